import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { edit, putWith, someDocument, somePerson } from '../contract/samples.ts';
import { backupSqlite } from '../sqlite/backup/backup.ts';
import { sqliteUnderTest, type SqliteUnderTest } from '../sqlite/under-test.ts';
import { checkBackup } from './check.ts';
import { copyStore } from './copy-store.ts';
import { readSums, writeSums } from './sums.ts';

let store: SqliteUnderTest;
let whole: string;
beforeAll(async () => {
  store = await sqliteUnderTest();
  const { data } = store.spec();
  await using stores = await store.open();
  await stores.people.add(somePerson('alice'), []);
  await stores.revocations.epoch(true);
  await edit(stores, '/a', [
    putWith('short', Buffer.from('short'), { file: 'short' }),
    { kind: 'put', entry: someDocument('long', { file: 'long' }) },
  ]);
  mkdirSync(join(data, 'content', '%2Fa'), { recursive: true });
  writeFileSync(join(data, 'content', '%2Fa', 'long'), 'long');
  whole = join(store.folder, 'whole');
  const copied = await copyStore(data, whole, {
    copyState: async (from, to) => backupSqlite(from, to),
    writeSums: async (to) => writeSums(to),
  });
  expect(copied).toBe(1);
});
afterAll(() => store.end());

let folder: string;
let count = 0;
beforeEach(() => {
  count += 1;
  folder = join(store.folder, `copy-${count}`);
  cpSync(whole, folder, { recursive: true });
});

const at = (file: string) => join(folder, file);

test('a complete backup has no faults, and sha256sum finds none either', () => {
  expect(checkBackup(folder)).toEqual([]);
  expect([...(readSums(folder)?.keys() ?? [])]).toEqual(['state.db', 'content/%2Fa/long']);
  const output = execFileSync('sha256sum', ['-c', 'SHA256SUMS'], { cwd: folder });
  expect(String(output)).toBe('state.db: OK\ncontent/%2Fa/long: OK\n');
});

test.each<readonly [string, () => void, string]>([
  ['without digests', () => rmSync(at('SHA256SUMS')), 'there is no SHA256SUMS'],
  ['without its state', () => rmSync(at('state.db')), 'state.db is missing'],
  ['without content', () => rmSync(at('content/%2Fa/long')), 'content/%2Fa/long is missing'],
  ['with other content', () => appendFileSync(at('content/%2Fa/long'), 'x'), 'long was changed'],
  ['with a short state', () => truncateSync(at('state.db'), 8192), 'state.db was changed'],
  ['with more', () => writeFileSync(at('content/%2Fa/more'), ''), '%2Fa/more was added'],
  ['that servers opened', () => writeFileSync(at('state.db-wal'), ''), 'servers have used it'],
  ['with damaged digests', () => appendFileSync(at('SHA256SUMS'), 'x\n'), 'line 3 is damaged'],
  [
    'with digests of files elsewhere',
    () => appendFileSync(at('SHA256SUMS'), `${'0'.repeat(64)}  content/../secret\n`),
    'line 3 is damaged',
  ],
])('a backup %s', (_, damage, mistake) => {
  damage();
  expect(checkBackup(folder)).toEqual([expect.stringContaining(mistake)]);
});

/**
 * Changes the database of the backup and writes its digests again, so that only the content of the database is wrong.
 */
function changed(change: (database: DatabaseSync) => void): readonly string[] {
  {
    using database = new DatabaseSync(at('state.db'));
    change(database);
  }
  writeSums(folder);
  return checkBackup(folder);
}

test('a database of a newer release and documents without content are reported as faults', () => {
  const file = 'content/%2Fa/long';
  const content = readFileSync(at(file));
  const damaged = `the document /a/long is damaged: ${file}`;
  rmSync(at(file));
  expect(changed(() => {})).toEqual([`${damaged} is missing`]);
  for (const wrong of ['', 'lon', 'longer']) {
    writeFileSync(at(file), wrong);
    expect(changed(() => {})).toEqual([`${damaged} has ${wrong.length} bytes, not 4`]);
  }
  writeFileSync(at(file), content);
  expect(changed(() => {})).toEqual([]);
  expect(changed((it) => it.exec('PRAGMA user_version = 9999'))).toEqual([
    expect.stringContaining('has schema version 9999'),
  ]);
});

test('a backup with an epoch is refused: servers that opened it would accept tokens that were revoked since', () => {
  const used = changed((it) => it.exec(`INSERT INTO epoch SELECT 1, 'x' WHERE true`));
  expect(used).toEqual([expect.stringContaining('servers have used it')]);
});

test('a damaged page of the database is found even if the digests match it', () => {
  const state = readFileSync(at('state.db'));
  state.fill(0xff, 4096 * 3, 4096 * 40);
  writeFileSync(at('state.db'), state);
  writeSums(folder);
  expect(checkBackup(folder)).not.toEqual([]);
});
