// What belongs together, in the order in which it comes.
export function byKey<T, K>(list: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const result = new Map<K, T[]>();
  for (const item of list) {
    const key = keyOf(item);
    const own = result.get(key);
    if (own) own.push(item);
    else result.set(key, [item]);
  }
  return result;
}
