/** The migrations from one version of `state.db` to the next. A released one is never changed. */
export const STATE_MIGRATIONS: readonly string[] = [
  `CREATE TABLE epoch (
     one INTEGER PRIMARY KEY CHECK (one = 1),
     id TEXT NOT NULL
   ) STRICT;

   CREATE TABLE generation (
     kind TEXT NOT NULL,
     id TEXT NOT NULL,
     generation INTEGER NOT NULL,
     PRIMARY KEY (kind, id)
   ) STRICT, WITHOUT ROWID;

   -- AUTOINCREMENT: a seq that was swept is never given again, so no feed has it behind its cursor.
   CREATE TABLE revocation (
     seq INTEGER PRIMARY KEY AUTOINCREMENT,
     kind TEXT NOT NULL CHECK (kind IN ('token', 'grant', 'key', 'person', 'client')),
     id TEXT NOT NULL,
     generation INTEGER CHECK ((generation IS NOT NULL) = (kind IN ('person', 'client'))),
     until INTEGER NOT NULL
   ) STRICT;
   CREATE INDEX revocation_until ON revocation (until);

   CREATE TABLE client (
     client_id TEXT PRIMARY KEY,
     record TEXT NOT NULL
   ) STRICT, WITHOUT ROWID;

   CREATE TABLE key (
     kid TEXT PRIMARY KEY,
     alg TEXT NOT NULL,
     record TEXT NOT NULL
   ) STRICT, WITHOUT ROWID;

   CREATE TABLE document (
     space TEXT NOT NULL,
     path TEXT NOT NULL,
     etag TEXT NOT NULL,
     type TEXT NOT NULL,
     length INTEGER NOT NULL,
     modified INTEGER NOT NULL,
     file TEXT NOT NULL,
     PRIMARY KEY (space, path)
   ) STRICT, WITHOUT ROWID;

   CREATE TABLE artefact (
     kind TEXT NOT NULL,
     id TEXT NOT NULL,
     payload TEXT NOT NULL,
     grant_id TEXT,
     uid TEXT,
     user_code TEXT,
     consumed INTEGER,
     expires INTEGER,
     PRIMARY KEY (kind, id)
   ) STRICT;
   CREATE INDEX artefact_grant_id ON artefact (grant_id) WHERE grant_id IS NOT NULL;
   CREATE INDEX artefact_uid ON artefact (kind, uid) WHERE uid IS NOT NULL;
   CREATE INDEX artefact_user_code ON artefact (kind, user_code) WHERE user_code IS NOT NULL;
   CREATE INDEX artefact_expires ON artefact (expires) WHERE expires IS NOT NULL;`,

  `CREATE TABLE person (
     id TEXT PRIMARY KEY,
     name TEXT NOT NULL UNIQUE,
     record TEXT NOT NULL
   ) STRICT, WITHOUT ROWID;

   ALTER TABLE artefact ADD COLUMN account_id TEXT;
   CREATE INDEX artefact_account_id ON artefact (kind, account_id) WHERE account_id IS NOT NULL;`,

  `CREATE TABLE person_alias (
     alias TEXT PRIMARY KEY,
     id TEXT NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX person_alias_id ON person_alias (id);

   CREATE TABLE api_key (
     id TEXT PRIMARY KEY,
     record TEXT NOT NULL
   ) STRICT, WITHOUT ROWID;`,

  `-- The path of a resource is that of the collection it is in and its name; the root has neither.
   CREATE TABLE resource (
     tree TEXT NOT NULL,
     parent TEXT NOT NULL,
     name TEXT NOT NULL,
     kind TEXT NOT NULL CHECK (kind IN ('document', 'collection')),
     revision TEXT NOT NULL,
     etag TEXT CHECK ((etag IS NOT NULL) = (kind = 'document')),
     type TEXT CHECK ((type IS NOT NULL) = (kind = 'document')),
     length INTEGER CHECK ((length IS NOT NULL) = (kind = 'document')),
     created INTEGER NOT NULL,
     modified INTEGER NOT NULL,
     file TEXT CHECK ((file IS NOT NULL) = (kind = 'document')),
     properties TEXT NOT NULL,
     -- Of content and properties.
     bytes INTEGER NOT NULL,
     PRIMARY KEY (tree, parent, name)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX resource_file ON resource (tree, file) WHERE file IS NOT NULL;

   CREATE TABLE tree_lock (
     tree TEXT NOT NULL,
     token TEXT NOT NULL,
     record TEXT NOT NULL,
     PRIMARY KEY (tree, token)
   ) STRICT, WITHOUT ROWID;

   CREATE TABLE tree (
     name TEXT PRIMARY KEY,
     locks_version INTEGER NOT NULL,
     bytes INTEGER NOT NULL,
     entries INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;

   -- Every document, and the collections above it.
   CREATE TEMP TABLE found AS
   WITH RECURSIVE found (tree, path, origin) AS (
     SELECT space, path, path FROM document
     UNION ALL
     SELECT tree, substr(path, 1, length(rtrim(path, replace(path, '/', ''))) - 1), origin
     FROM found WHERE instr(path, '/') > 0
   )
   SELECT tree, found.path, rtrim(found.path, replace(found.path, '/', '')) AS folder,
     max(found.path = origin) AS is_document, max(found.path <> origin) AS is_collection,
     min(iif(found.path <> origin, modified, NULL)) AS created,
     max(iif(found.path <> origin, modified, NULL)) AS modified
   FROM found JOIN document ON space = tree AND document.path = origin
   GROUP BY tree, found.path;

   INSERT INTO resource (tree, parent, name, kind, revision, created, modified, properties, bytes)
   SELECT tree, rtrim(folder, '/'), substr(path, length(folder) + 1), 'collection',
     lower(hex(randomblob(16))), created, modified, '{}', 0
   FROM found WHERE is_collection;

   -- A document where there is a collection now has the name of its file at the end of its own.
   INSERT INTO resource
   SELECT tree, rtrim(folder, '/'),
     substr(found.path, length(folder) + 1) || iif(is_collection, '.' || file, ''), 'document',
     lower(hex(randomblob(16))), etag, type, length, document.modified, document.modified, file, '{}',
     length
   FROM found JOIN document ON space = tree AND document.path = found.path WHERE is_document;

   INSERT INTO tree
   SELECT tree, 0, sum(bytes), count(*) FROM resource GROUP BY tree;

   DROP TABLE found;
   DROP TABLE document;`,

  `-- Of dead properties alone.
   ALTER TABLE tree ADD COLUMN properties INTEGER NOT NULL DEFAULT 0;
   UPDATE tree SET properties = (
     SELECT ifnull(sum(bytes - ifnull(length, 0)), 0) FROM resource WHERE resource.tree = tree.name
   );`,

  `CREATE TABLE token_key (
     seq INTEGER PRIMARY KEY,
     type INTEGER NOT NULL,
     truncated_id INTEGER NOT NULL,
     id TEXT NOT NULL,
     record TEXT NOT NULL,
     UNIQUE (type, truncated_id)
   ) STRICT;

   -- WITHOUT ROWID: rowids would tell the order in which tokens were redeemed.
   CREATE TABLE spent_token (
     digest BLOB PRIMARY KEY,
     until INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX spent_token_until ON spent_token (until);`,

  `-- Names the use of a consumed artefact until its result is out.
   ALTER TABLE artefact ADD COLUMN attempt TEXT;`,
  `-- In the order in which an account's are listed.
   DROP INDEX artefact_account_id;
   CREATE INDEX artefact_account ON artefact (kind, account_id, ifnull(expires, 9007199254740991))
     WHERE account_id IS NOT NULL;`,

  `-- What each version of a tree's locks has changed, for the last of them.
   CREATE TABLE tree_lock_change (
     tree TEXT NOT NULL,
     version INTEGER NOT NULL,
     root TEXT NOT NULL,
     PRIMARY KEY (tree, version, root)
   ) STRICT, WITHOUT ROWID;`,

  `CREATE TABLE person_digest (
     id TEXT NOT NULL,
     realm TEXT NOT NULL,
     hash TEXT NOT NULL,
     ha1 TEXT NOT NULL,
     userhash TEXT NOT NULL,
     PRIMARY KEY (id, realm, hash)
   ) STRICT, WITHOUT ROWID;

   -- The userhashes were aliases, in the order of the verifiers that they belong to.
   INSERT INTO person_digest (id, realm, hash, ha1, userhash)
   SELECT kept.id, realm, hash, ha1, substr(alias, length('digest:' || hash || ':') + 1)
   FROM (
     SELECT person.id, realm.key AS realm, hash.key AS hash, hash.value AS ha1,
       row_number() OVER (PARTITION BY person.id ORDER BY realm.id, hash.id) AS n
     FROM person, json_each(record, '$.verifiers') AS realm, json_each(realm.value, '$.digest') AS hash
   ) AS kept
   JOIN (
     SELECT person.id, alias.value AS alias,
       row_number() OVER (PARTITION BY person.id ORDER BY alias.id) AS n
     FROM person, json_each(record, '$.aliases') AS alias
     WHERE alias.value LIKE 'digest:%'
   ) USING (id, n);
   CREATE UNIQUE INDEX person_userhash ON person_digest (userhash, realm, hash);
   DELETE FROM person_alias WHERE alias LIKE 'digest:%';

   -- Whichever realm SCRAM's keys are of, they are of the same password.
   UPDATE person SET record = json_remove(
     json_set(record,
       '$.scram', (
         SELECT json_group_object(hash, json(keys)) FROM (
           SELECT hash.key AS hash, min(hash.value) AS keys
           FROM json_each(record, '$.verifiers') AS realm, json_each(realm.value, '$.scram') AS hash
           GROUP BY hash.key
         )
       ),
       '$.aliases', (
         SELECT json_group_array(value) FROM json_each(record, '$.aliases')
         WHERE value NOT LIKE 'digest:%'
       )
     ),
     '$.verifiers'
   );

   WITH
     owned AS (
       SELECT id, group_concat(hash || ' ' || realm, char(10) ORDER BY realm, hash) AS realms
       FROM person_digest GROUP BY id
     ),
     numbered AS (SELECT id, dense_rank() OVER (ORDER BY realms) AS number FROM owned)
   UPDATE person SET record = json_set(record, '$.digest_set', 'before rows ' || number)
   FROM numbered WHERE numbered.id = person.id;`,

  `CREATE TABLE person_verifier (
     id TEXT NOT NULL,
     kind TEXT NOT NULL,
     realm TEXT NOT NULL,
     value TEXT NOT NULL,
     handle TEXT,
     PRIMARY KEY (id, realm, kind)
   ) STRICT, WITHOUT ROWID;

   INSERT INTO person_verifier (id, kind, realm, value, handle)
   SELECT id, 'digest ' || hash, realm, ha1, userhash FROM person_digest ORDER BY id, realm, hash;
   DROP TABLE person_digest;

   -- RFC 5803 section 2.
   INSERT INTO person_verifier (id, kind, realm, value)
   SELECT person.id, 'scram ' || hash.key, '', format('SCRAM-%s$%d:%s$%s:%s', hash.key,
     hash.value ->> '$.iterations', hash.value ->> '$.salt',
     hash.value ->> '$.stored_key', hash.value ->> '$.server_key')
   FROM person, json_each(record, '$.scram') AS hash;

   CREATE UNIQUE INDEX person_handle ON person_verifier (handle, realm, kind)
     WHERE handle IS NOT NULL;

   -- Who had the same rows and keys has a set of the same name.
   UPDATE person SET record = json_remove(
     json_set(record, '$.verifier_set', ifnull(record ->> '$.digest_set', '') || (
       SELECT ifnull(group_concat(' ' || key, '' ORDER BY key), '') FROM json_each(record, '$.scram')
     )),
     '$.digest_set', '$.scram'
   );`,

  `-- Of documents whose content is short, apart from the rows that name it: those are read more often.
   CREATE TABLE content (
     tree TEXT NOT NULL,
     file TEXT NOT NULL,
     bytes BLOB NOT NULL,
     PRIMARY KEY (tree, file)
   ) STRICT;`,

  `CREATE TABLE public_key (
     id TEXT PRIMARY KEY,
     owner TEXT NOT NULL,
     created INTEGER NOT NULL,
     record TEXT NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX public_key_owner ON public_key (owner, created, id);`,

  `CREATE TABLE gateway_key (
     kid TEXT PRIMARY KEY,
     alg TEXT NOT NULL,
     record TEXT NOT NULL
   ) STRICT, WITHOUT ROWID;`,

  `-- AUTOINCREMENT, as above. The oldest go first, so that nothing is missing between two that are kept.
   CREATE TABLE invalidation (
     seq INTEGER PRIMARY KEY AUTOINCREMENT,
     space TEXT NOT NULL,
     kind TEXT NOT NULL,
     value TEXT NOT NULL,
     soft INTEGER NOT NULL,
     at INTEGER NOT NULL
   ) STRICT;
   CREATE INDEX invalidation_kind ON invalidation (kind);
   CREATE INDEX invalidation_at ON invalidation (at);`,

  `-- Another one with each commit. Null: whoever committed last was of a release that knows of none.
   ALTER TABLE tree ADD COLUMN version TEXT;
   UPDATE tree SET version = lower(hex(randomblob(16)));`,

  `-- Octets of the values up to this one, of those that were kept then.
   ALTER TABLE invalidation ADD COLUMN written INTEGER NOT NULL DEFAULT 0;`,

  `CREATE TABLE followed (
     id TEXT PRIMARY KEY,
     confirmed TEXT NOT NULL,
     lease INTEGER NOT NULL,
     beat INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;

   -- Of the memory with this epoch; '' of one that has none yet.
   CREATE TABLE settled (
     one INTEGER PRIMARY KEY CHECK (one = 1),
     epoch TEXT NOT NULL
   ) STRICT;`,

  `-- Names of people who were removed.
   CREATE TABLE former_name (
     digest BLOB PRIMARY KEY
   ) STRICT, WITHOUT ROWID;`,

  `CREATE TABLE push_subscription (
     id TEXT PRIMARY KEY,
     push TEXT NOT NULL UNIQUE,
     person TEXT NOT NULL,
     created INTEGER NOT NULL,
     record TEXT NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX push_subscription_person ON push_subscription (person, created, id);

   -- AUTOINCREMENT: the place of a message is never that of another. record: what nobody looks for.
   CREATE TABLE push_message (
     place INTEGER PRIMARY KEY AUTOINCREMENT,
     id TEXT NOT NULL UNIQUE,
     subscription TEXT NOT NULL,
     topic TEXT,
     urgency INTEGER NOT NULL,
     until INTEGER NOT NULL,
     record TEXT NOT NULL,
     body BLOB NOT NULL
   ) STRICT;
   CREATE UNIQUE INDEX push_message_topic ON push_message (subscription, topic) WHERE topic IS NOT NULL;
   CREATE INDEX push_message_subscription ON push_message (subscription, place);
   CREATE INDEX push_message_until ON push_message (until);

   CREATE TABLE push_receipts (
     id TEXT PRIMARY KEY,
     subscription TEXT NOT NULL,
     until INTEGER NOT NULL
   ) STRICT;
   CREATE INDEX push_receipts_subscription ON push_receipts (subscription, until);
   CREATE INDEX push_receipts_until ON push_receipts (until);

   -- outcome: null as long as the message waits.
   CREATE TABLE push_receipt (
     place INTEGER PRIMARY KEY AUTOINCREMENT,
     message TEXT NOT NULL UNIQUE,
     receipts TEXT NOT NULL,
     outcome TEXT,
     until INTEGER NOT NULL
   ) STRICT;
   CREATE INDEX push_receipt_receipts ON push_receipt (receipts, place);
   CREATE INDEX push_receipt_until ON push_receipt (until);

   CREATE TABLE push_news (
     place INTEGER PRIMARY KEY AUTOINCREMENT,
     about TEXT NOT NULL,
     at INTEGER NOT NULL
   ) STRICT;
   CREATE INDEX push_news_at ON push_news (at);`,

  `CREATE TABLE passkey (
     id TEXT PRIMARY KEY,
     person TEXT NOT NULL,
     created INTEGER NOT NULL,
     record TEXT NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX passkey_person ON passkey (person, created, id);`,

  `CREATE TABLE second_factor (person TEXT PRIMARY KEY, record TEXT NOT NULL) STRICT, WITHOUT ROWID;`,

  `CREATE TABLE outbox (
     id TEXT PRIMARY KEY,
     due INTEGER NOT NULL,
     attempts INTEGER NOT NULL,
     record TEXT NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX outbox_due ON outbox (due, id);`,

  `CREATE TABLE person_search_key (
     key TEXT NOT NULL,
     id TEXT NOT NULL,
     PRIMARY KEY (key, id)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX person_search_key_id ON person_search_key (id);

   -- lower() maps ASCII letters alone.
   INSERT INTO person_search_key (key, id)
   SELECT DISTINCT 'email:' || lower(email.value ->> '$.address'), person.id
   FROM person, json_each(record, '$.profile.emails') AS email;

   INSERT INTO person_search_key (key, id)
   SELECT 'looks:' || replace(replace(replace(replace(replace(replace(replace(
     name, '.', ''), '_', ''), '-', ''), '0', 'o'), '1', 'l'), 'rn', 'm'), 'vv', 'w'), id
   FROM person;

   UPDATE person SET record = json_set(record, '$.search_keys', (
     SELECT json_group_array(key) FROM person_search_key AS kept WHERE kept.id = person.id
   ));`,
  `-- What was committed and is in no link of the chain yet.
   CREATE TABLE audit_open (seq INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT NOT NULL) STRICT;
   CREATE TABLE audit (seq INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
   CREATE TABLE audit_key (key TEXT, seq INTEGER, PRIMARY KEY (key, seq)) STRICT, WITHOUT ROWID;
   CREATE TABLE audit_link (
     number INTEGER PRIMARY KEY,
     before TEXT NOT NULL,
     first INTEGER NOT NULL,
     last INTEGER NOT NULL,
     at INTEGER NOT NULL,
     oldest INTEGER NOT NULL,
     mac TEXT NOT NULL
   ) STRICT;
   CREATE INDEX audit_link_at ON audit_link (at, number);
   CREATE TABLE audit_refusal (
     hour INTEGER,
     person TEXT,
     count INTEGER NOT NULL,
     PRIMARY KEY (hour, person)
   ) STRICT, WITHOUT ROWID;`,

  `-- A verified address is an alias, of one person. Where several have verified one, it stays with the eldest account.
   INSERT OR IGNORE INTO person_alias (alias, id)
   SELECT 'address:' || lower(email.value ->> '$.address'), person.id
   FROM person, json_each(record, '$.profile.emails') AS email
   WHERE email.value ->> '$.verified'
   ORDER BY record ->> '$.created_at', person.id;

   UPDATE person SET record = json_set(record, '$.profile.emails', (
     SELECT json_group_array(json(CASE
       WHEN EXISTS (
         SELECT 1 FROM person_alias AS kept
         WHERE kept.alias = 'address:' || lower(email.value ->> '$.address') AND kept.id <> person.id
       ) THEN json_set(email.value, '$.verified', json('false'))
       ELSE email.value
     END))
     FROM json_each(record, '$.profile.emails') AS email
   ))
   WHERE EXISTS (
     SELECT 1 FROM json_each(record, '$.profile.emails') AS email JOIN person_alias AS kept
       ON kept.alias = 'address:' || lower(email.value ->> '$.address') AND kept.id <> person.id
     WHERE email.value ->> '$.verified'
   );

   UPDATE person SET record = json_set(record, '$.aliases', (
     SELECT json_group_array(alias) FROM (
       SELECT value AS alias FROM json_each(record, '$.aliases')
       UNION ALL
       SELECT DISTINCT 'address:' || lower(email.value ->> '$.address')
       FROM json_each(record, '$.profile.emails') AS email WHERE email.value ->> '$.verified'
     )
   ))
   WHERE id IN (SELECT id FROM person_alias WHERE alias GLOB 'address:*');

   -- In the looks of names, i is taken for l, too.
   UPDATE person_search_key SET key = replace(key, 'i', 'l') WHERE key GLOB 'looks:*';
   UPDATE person SET record = json_set(record, '$.search_keys', (
     SELECT json_group_array(CASE WHEN value GLOB 'looks:*' THEN replace(value, 'i', 'l') ELSE value END)
     FROM json_each(record, '$.search_keys')
   ));`,
  `CREATE INDEX api_key_place
     ON api_key (record ->> '$.application', record ->> '$.created_at', id);`,
  `CREATE TABLE declared (kind TEXT, id TEXT, PRIMARY KEY (kind, id)) STRICT, WITHOUT ROWID;`,
  `-- Groups and states of people, by name. Triggers keep it: an older version that goes on writes it, too.
   CREATE TABLE person_list (
     list TEXT NOT NULL,
     name TEXT NOT NULL,
     id TEXT NOT NULL,
     PRIMARY KEY (list, name)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX person_list_id ON person_list (id);

   CREATE TRIGGER person_added AFTER INSERT ON person BEGIN
     INSERT INTO person_list (list, name, id)
     SELECT 'group:' || value, NEW.name, NEW.id FROM json_each(NEW.record, '$.profile.groups')
     UNION SELECT 'state:disabled', NEW.name, NEW.id WHERE NEW.record ->> '$.disabled' = 1
     UNION SELECT 'state:active', NEW.name, NEW.id WHERE ifnull(NEW.record ->> '$.disabled', 0) = 0
     UNION SELECT 'state:admin', NEW.name, NEW.id WHERE NEW.record ->> '$.admin' = 1;
   END;
   CREATE TRIGGER person_changed AFTER UPDATE ON person BEGIN
     DELETE FROM person_list WHERE id = OLD.id;
     INSERT INTO person_list (list, name, id)
     SELECT 'group:' || value, NEW.name, NEW.id FROM json_each(NEW.record, '$.profile.groups')
     UNION SELECT 'state:disabled', NEW.name, NEW.id WHERE NEW.record ->> '$.disabled' = 1
     UNION SELECT 'state:active', NEW.name, NEW.id WHERE ifnull(NEW.record ->> '$.disabled', 0) = 0
     UNION SELECT 'state:admin', NEW.name, NEW.id WHERE NEW.record ->> '$.admin' = 1;
   END;
   CREATE TRIGGER person_removed AFTER DELETE ON person BEGIN
     DELETE FROM person_list WHERE id = OLD.id;
   END;

   -- The trigger writes the lists of those who are there.
   UPDATE person SET name = name;`,

  `-- One mailbox is one alias, whichever way its domain is written; of several who have verified it, the eldest account keeps it.
   DELETE FROM person_alias WHERE alias GLOB 'address:*';
   INSERT OR IGNORE INTO person_alias (alias, id)
   SELECT 'address:' || mail_key(email.value ->> '$.address'), person.id
   FROM person, json_each(record, '$.profile.emails') AS email
   WHERE email.value ->> '$.verified'
   ORDER BY record ->> '$.created_at', person.id;

   UPDATE person SET record = json_set(record, '$.profile.emails', (
     SELECT json_group_array(json(CASE
       WHEN EXISTS (
         SELECT 1 FROM person_alias AS kept
         WHERE kept.alias = 'address:' || mail_key(email.value ->> '$.address') AND kept.id <> person.id
       ) THEN json_set(email.value, '$.verified', json('false'))
       ELSE email.value
     END))
     FROM json_each(record, '$.profile.emails') AS email
   ))
   WHERE EXISTS (
     SELECT 1 FROM json_each(record, '$.profile.emails') AS email JOIN person_alias AS kept
       ON kept.alias = 'address:' || mail_key(email.value ->> '$.address') AND kept.id <> person.id
     WHERE email.value ->> '$.verified'
   );

   UPDATE person SET record = json_set(record, '$.aliases', (
     SELECT json_group_array(alias) FROM (
       SELECT value AS alias FROM json_each(record, '$.aliases') WHERE value NOT GLOB 'address:*'
       UNION ALL
       SELECT DISTINCT 'address:' || mail_key(email.value ->> '$.address')
       FROM json_each(record, '$.profile.emails') AS email WHERE email.value ->> '$.verified'
     )
   ))
   WHERE json_array_length(record, '$.aliases') > 0
     OR id IN (SELECT id FROM person_alias WHERE alias GLOB 'address:*');

   -- People are found by that form, too.
   UPDATE person SET record = json_set(record, '$.search_keys', (
     SELECT json_group_array(key) FROM (
       SELECT DISTINCT 'email:' || mail_key(email.value ->> '$.address') AS key
       FROM json_each(record, '$.profile.emails') AS email
       UNION ALL
       SELECT 'looks:' || replace(replace(replace(replace(replace(replace(replace(replace(
         name, '.', ''), '_', ''), '-', ''), '0', 'o'), '1', 'l'), 'i', 'l'), 'rn', 'm'), 'vv', 'w')
     )
   ));
   DELETE FROM person_search_key;
   INSERT OR IGNORE INTO person_search_key (key, id)
   SELECT kept.value, person.id FROM person, json_each(record, '$.search_keys') AS kept;`,
  `-- When the last good backup was made: one row, or none.
   CREATE TABLE last_backup (one INTEGER PRIMARY KEY CHECK (one = 1), at INTEGER NOT NULL) STRICT;`,

  `-- Grants and consents of a client, those that live longest first.
   CREATE INDEX artefact_client
     ON artefact (kind, payload ->> '$.clientId', ifnull(expires, 9007199254740991), id)
     WHERE kind IN ('Access', 'Consent');`,
  `-- Clients by the fingerprints of their keys. Triggers remove what a client had, and note clients whose keys are
   -- still to be written: an older version that goes on notes them, too.
   CREATE TABLE client_key (
     key TEXT NOT NULL,
     client_id TEXT NOT NULL,
     PRIMARY KEY (key, client_id)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX client_key_client ON client_key (client_id);
   CREATE TABLE client_unindexed (client_id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

   CREATE TRIGGER client_added AFTER INSERT ON client BEGIN
     INSERT INTO client_unindexed SELECT NEW.client_id
     WHERE NEW.record ->> '$.jwks' IS NOT NULL OR NEW.record ->> '$.gnap' IS NOT NULL;
   END;
   CREATE TRIGGER client_changed AFTER UPDATE ON client BEGIN
     DELETE FROM client_key WHERE client_id = OLD.client_id;
     DELETE FROM client_unindexed WHERE client_id = OLD.client_id;
     INSERT INTO client_unindexed SELECT NEW.client_id
     WHERE NEW.record ->> '$.jwks' IS NOT NULL OR NEW.record ->> '$.gnap' IS NOT NULL;
   END;
   CREATE TRIGGER client_removed AFTER DELETE ON client BEGIN
     DELETE FROM client_key WHERE client_id = OLD.client_id;
     DELETE FROM client_unindexed WHERE client_id = OLD.client_id;
   END;

   -- The trigger notes those who are there.
   UPDATE client SET record = record;`,
  `-- How many transactions changed something, and the salt of the WAL of which damage was found last.
   CREATE TABLE tally (
     one INTEGER PRIMARY KEY CHECK (one = 1),
     commits INTEGER NOT NULL,
     damaged TEXT
   ) STRICT;
   INSERT INTO tally (one, commits) VALUES (1, 0);`,
  `-- A resource has the id of the collection that it is in: 0 in the root; -1 where it waits to be removed with all that is
   -- below it, and -2 where it is a copy that is being made. The root is in itself, without a name.
   CREATE TEMP TABLE place AS
   SELECT row_number() OVER (ORDER BY tree, parent, name) AS id, tree, parent, name,
     iif(parent = '', name, parent || '/' || name) AS path
   FROM resource;
   CREATE INDEX temp.place_path ON place (tree, path);
   ALTER TABLE resource RENAME TO former_resource;

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
   ALTER TABLE tree ADD COLUMN edits INTEGER NOT NULL DEFAULT 0;
   INSERT INTO resource
   SELECT place.id, tree, iif(parent = '', 0, (
       SELECT above.id FROM place AS above
       WHERE above.tree = place.tree AND above.path = place.parent AND above.name <> ''
     )), name, kind, revision, etag, type, length, created, modified, file, bytes, 0, 0, 0, properties
   FROM place JOIN former_resource USING (tree, parent, name);
   DROP TABLE former_resource;
   DROP TABLE place;
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
   WITH RECURSIVE above (id, collection, size) AS (
     SELECT id, parent, octet_length(name) FROM resource WHERE parent > 0
     UNION ALL
     SELECT above.id, resource.parent, size + 1 + octet_length(name)
     FROM above JOIN resource ON resource.id = collection WHERE resource.parent > 0
   )
   INSERT INTO collection
   SELECT collection, sum(bytes), sum(bytes - ifnull(length, 0)), count(*), max(size)
   FROM above JOIN resource USING (id) GROUP BY collection;
   INSERT OR IGNORE INTO collection (id) SELECT id FROM resource WHERE kind = 'collection';

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
   ) STRICT, WITHOUT ROWID;`,
];
