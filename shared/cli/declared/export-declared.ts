import type { Recorder } from '#shared/audit/recorder.ts';
import { isBuiltIn } from '#shared/operations/clients/find-client.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import type { PersonRecord } from '#shared/stores/people/people.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { writeNewFile } from '../files/new-file.ts';
import { declaredClient } from './client-items.ts';
import { declaredKey } from './key-items.ts';

/** Clients of GNAP are made by their keys, and those that are built in by the configuration. */
const isDeclarable = ({ client_id: id, gnap }: ClientRecord) =>
  !isBuiltIn(id) && gnap === undefined;

const declaredPerson = ({ name, profile, kerberos, admin, disabled }: PersonRecord) => ({
  name,
  ...(profile && { profile }),
  ...(kerberos?.length && { kerberos }),
  ...(admin && { admin }),
  ...(disabled && { disabled }),
});

/** Writes a file that `apply` takes, and finds nothing to change in. */
export async function exportDeclared(
  file: string,
  { people, clients, apiKeys }: Pick<Stores, 'people' | 'clients' | 'apiKeys'>,
  recorder: Recorder,
) {
  const everybody: PersonRecord[] = [];
  for await (const slice of people.list()) everybody.push(...slice);
  const content = {
    people: everybody.map(declaredPerson),
    clients: (await clients.list()).filter(isDeclarable).map(declaredClient),
    api_keys: (await apiKeys.list()).map(declaredKey),
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
