"""Writes mutual-vectors.json beside this file, the same each time."""
import json
from pathlib import Path

from vectors import vectors

FILE = Path(__file__).with_name('mutual-vectors.json')

if __name__ == '__main__':
    FILE.write_text(json.dumps(vectors(), indent=2, ensure_ascii=False) + '\n', encoding='utf-8')
