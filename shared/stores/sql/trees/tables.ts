/** The tables of trees, version 1 (`../tables.ts`). */
export const TREE_TABLES = `
  -- A resource has the id of the collection that it is in: 0 in the root; -1 where it waits to be removed with all that is
  -- below it, and -2 where it is a copy that is being made. The root is in itself, without a name.
  CREATE TABLE resource (
    id INTEGER PRIMARY KEY,
    tree TEXT NOT NULL,
    parent INTEGER NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('document', 'collection')),
    revision TEXT NOT NULL,
    etag TEXT CHECK ((etag IS NOT NULL) = (kind = 'document')),
    type TEXT CHECK ((type IS NOT NULL) = (kind = 'document')),
    length INTEGER CHECK ((length IS NOT NULL) = (kind = 'document')),
    created INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    file TEXT CHECK ((file IS NOT NULL) = (kind = 'document')),
    -- Of content and properties.
    bytes INTEGER NOT NULL,
    -- By which edit of the tree it was put, or came to where it is; of a collection, by which it came, and when: what is
    -- below it was modified then, unless a later edit has changed it.
    changed INTEGER NOT NULL DEFAULT 0,
    arrived INTEGER NOT NULL DEFAULT 0,
    arrived_at INTEGER NOT NULL DEFAULT 0,
    properties TEXT NOT NULL,
    UNIQUE (tree, parent, name)
  ) STRICT;
  CREATE INDEX resource_file ON resource (tree, file) WHERE file IS NOT NULL;
  CREATE INDEX resource_detached ON resource (id) WHERE parent = -1;
  -- What is below a collection, and bytes of the longest path from it, at least.
  CREATE TABLE collection (
    id INTEGER PRIMARY KEY,
    bytes INTEGER NOT NULL DEFAULT 0,
    properties INTEGER NOT NULL DEFAULT 0,
    entries INTEGER NOT NULL DEFAULT 0,
    longest INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE TABLE tree (
    name TEXT PRIMARY KEY,
    locks_version INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    entries INTEGER NOT NULL,
    -- Of dead properties alone.
    properties INTEGER NOT NULL DEFAULT 0,
    -- Another one with each commit.
    version TEXT,
    edits INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE tree_lock (
    tree TEXT NOT NULL,
    token TEXT NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (tree, token)
  ) STRICT, WITHOUT ROWID;
  -- What each version of a tree's locks has changed, for the last of them.
  CREATE TABLE tree_lock_change (
    tree TEXT NOT NULL,
    version INTEGER NOT NULL,
    root TEXT NOT NULL,
    PRIMARY KEY (tree, version, root)
  ) STRICT, WITHOUT ROWID;
  -- Copies that are being made: their row, that of what they are of, and the room that they have taken in their tree.
  CREATE TABLE tree_copy (
    token TEXT PRIMARY KEY,
    id INTEGER NOT NULL,
    tree TEXT NOT NULL,
    source INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    properties INTEGER NOT NULL,
    entries INTEGER NOT NULL,
    broken INTEGER NOT NULL DEFAULT 0,
    until INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  -- Of documents whose content is short, apart from the rows that name it: those are read more often.
  CREATE TABLE content (
    tree TEXT NOT NULL,
    file TEXT NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (tree, file)
  ) STRICT;
`;
