/**
 * A process that changes the store with audit events, several changes at once, and closes batches of the
 * log meanwhile, until it is killed. It prints `kind id` for each acknowledged change.
 */
import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { closeOpen } from '#shared/audit/close.ts';
import { macKey } from '#shared/audit/mac.ts';
import { createRecorder } from '#shared/audit/recorder.ts';
import { auditSettings } from '#shared/audit/settings.ts';
import { systemClock } from '#shared/base/clock.ts';
import { silentLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import type { DirectoryContent } from '#shared/people/file/directory-content.ts';
import { importDirectory } from '#shared/people/file/import-directory.ts';
import { createPasswords } from '#shared/people/password.ts';
import {
  FAR,
  fresh,
  someApiKey,
  someClient,
  someOutboxMessage,
  somePerson,
} from '#shared/stores/contract/samples.ts';
import { openStores, type StoresSpec } from '#shared/stores/open.ts';

const AT_ONCE = 4;
const NOTHING: DirectoryContent = {
  people: [],
  api_keys: [],
  public_keys: [],
  passkeys: [],
  second_factors: [],
};

const [spec = '', master = '', somebody = '', importedName = ''] = process.argv.slice(2);
const stores = await openStores(JSON.parse(spec) as StoresSpec, {
  clock: systemClock,
  random: systemRandom,
  log: silentLog,
});
const recorder = createRecorder(
  {
    stores,
    clock: systemClock,
    log: silentLog,
    config: { audit: auditSettings.parse({}) },
  },
  { who: 'operator', how: 'command line' },
);
const told = (kind: string, id: string) => void writeSync(1, `${kind} ${id}\n`);

/** Imports the content of a directory file with the recorder of this process. */
const imported = (file: Partial<DirectoryContent>) =>
  importDirectory(
    {
      stores,
      recorder,
      clock: systemClock,
      random: systemRandom,
      longestLife: 600,
      passwords: createPasswords(),
      realms: [],
    },
    { ...NOTHING, ...file },
  );

const CHANGES: readonly (() => Promise<unknown>)[] = [
  async () => {
    const client = fresh();
    const changing = (kind: 'client.added' | 'client.removed') =>
      recorder.changing('clients', { kind, client });
    await changing('client.added').add(someClient(client));
    told('client.added', client);
    await changing('client.removed').remove(client);
    told('client.removed', client);
  },
  async () => {
    const client = fresh();
    await recorder.changing('clients', { kind: 'client.added', client }).add(someClient(client));
    told('client.added', client);
  },
  async () => {
    const record = somePerson(fresh());
    const person = record.id;
    await recorder.changing('people', { kind: 'person.added', person }).add(record);
    told('person.added', person);
    // One change writes two events.
    const events = [
      { kind: 'person.disabled', person },
      { kind: 'person.changed', person, what: 'disabled' },
    ] as const;
    const disabled = { ...record, disabled: true, version: 1 } as const;
    await recorder.changing('people', ...events).replace(disabled);
    told('person.disabled', person);
  },
  async () => {
    const event = { kind: 'person.ended', person: somebody } as const;
    await recorder.changing('revocations', event).raise('person', somebody, FAR);
    told('person.ended', somebody);
  },
  async () => {
    const id = fresh();
    await recorder
      .changing('artefacts', { kind: 'sign-in', person: somebody, what: 'pwd', id })
      .put({ kind: 'SignIn', id, payload: { accountId: somebody, id }, seconds: 600 });
    told('sign-in', id);
  },
  async () => {
    const person = fresh();
    await recorder
      .changing('outbox', { kind: 'link.made', person, what: 'recovery' })
      .add(someOutboxMessage(person));
    told('link.made', person);
  },
  async () => {
    const person = somePerson(`${importedName}${fresh()}`);
    await imported({ people: [person] });
    told('person.added', person.id);
    told('directory.imported', '1');
  },
  // The import has no person: its event is stored with the API key.
  async () => {
    await imported({ api_keys: [someApiKey(fresh())] });
    told('directory.imported', '0');
  },
];

const repeat = async (work: () => Promise<unknown>) => {
  for (;;) await work();
};
const key = macKey(Buffer.from(master, 'base64url'));
const closing = async () => {
  await closeOpen({ audit: stores.audit, key, clock: systemClock });
  await sleep(5);
};
const works = Array.from({ length: AT_ONCE }, () => CHANGES).flat();
await Promise.all([...works, closing].map(repeat));
