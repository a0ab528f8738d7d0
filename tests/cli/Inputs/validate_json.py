"""validate_json.py SCHEMA DOCUMENT: fails, saying where, unless the document follows the schema."""
import json
import sys

import jsonschema

with open(sys.argv[1]) as schema, open(sys.argv[2]) as document:
    jsonschema.validate(json.load(document), json.load(schema))
