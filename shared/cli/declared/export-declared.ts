import type { Recorder } from '#shared/audit/recorder.ts';
import { isBuiltIn } from '#shared/operations/clients/find-client.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import type { PersonRecord } from '#shared/stores/people/people.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { writeNewFile } from '../files/new-file.ts';
import { declaredClient } from './client-items.ts';
import { declaredKey } from './key-items.ts';
import { declaredPublicKey } from './public-key-items.ts';

/**
 * Whether a file may declare the client. The configuration makes built-in clients. A person who allows access makes
 * some GNAP clients and some clients with a document.
 */
const isDeclarable = ({ client_id: id, gnap, document }: ClientRecord) =>
  !isBuiltIn(id) && !gnap?.unknown && (document === undefined || document.registered === true);

const declaredAny = (client: ClientRecord) =>
  client.document === undefined ? declaredClient(client) : { document: client.client_id };

const declaredPerson = ({ name, profile, kerberos, admin, disabled }: PersonRecord) => ({
  name,
  ...(profile && { profile }),
  ...(kerberos?.length && { kerberos }),
  ...(admin && { admin }),
  ...(disabled && { disabled }),
});

/** Whether the record of a person is not from a source, which alone declares it. */
const isOfHere = ({ origin }: PersonRecord) => origin === undefined;

/** Writes the store's content as a file for `apply`, which then finds nothing to change. */
export async function exportDeclared(
  file: string,
  {
    people,
    clients,
    apiKeys,
    publicKeys,
  }: Pick<Stores, 'people' | 'clients' | 'apiKeys' | 'publicKeys'>,
  recorder: Recorder,
) {
  const everybody: PersonRecord[] = [];
  for await (const slice of people.list()) everybody.push(...slice.filter(isOfHere));
  const names = new Map(everybody.map(({ id, name }) => [id, name]));
  const keys: object[] = [];
  for await (const slice of publicKeys.list()) {
    for (const key of slice) {
      const { kind, id } = key.owner;
      const name = names.get(id);
      if (kind === 'application') keys.push({ ...declaredPublicKey(key), owner: key.owner });
      else if (name !== undefined) keys.push({ ...declaredPublicKey(key), owner: { kind, name } });
    }
  }
  const content = {
    people: everybody.map(declaredPerson),
    clients: (await clients.list()).filter(isDeclarable).map(declaredAny),
    api_keys: (await apiKeys.list()).map(declaredKey),
    public_keys: keys,
  };
  await writeNewFile(file, [`${JSON.stringify(content, undefined, 2)}\n`]);
  await recorder.record({ kind: 'directory.exported', count: everybody.length });
  const counts = Object.entries(content).map(([part, all]) => [part, all.length] as const);
  return {
    json: { file, ...Object.fromEntries(counts) },
    lines: [
      `Wrote ${counts.map(([part, n]) => `${n} ${part.replace('_', ' ')}`).join(', ')} to ${file}.`,
    ],
  };
}
