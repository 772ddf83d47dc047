import { jsonFault } from '#shared/base/json-fault.ts';
import { parseStrictJson, StrictJsonError } from '#shared/base/strict-json.ts';
import { hash } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import type { Mistake } from '#shared/base/mistake.ts';
import type { Config } from '#shared/config/schema.ts';
import { apiKeySecretHash, parseApiKey } from '#shared/people/api-key.ts';
import type { ApiKeyRecord } from '#shared/stores/credentials/api-keys.ts';
import { openToDocuments } from '#shared/client-documents/record.ts';
import { NOTHING_OPEN } from '#shared/operations/clients/client-add.ts';
import { checkRealm } from '#shared/operations/keys/key-add.ts';
import { InputError } from '#shared/operations/operation.ts';
import { fileText, STDIN, textOf } from '../arguments/bounded-file.ts';
import { Failure, type Shell } from '../arguments/command.ts';
import { clientFrom } from './client-from.ts';
import { firstMistakes } from './first-mistakes.ts';
import { goodEntries, type GoodEntries, type Part } from './good-entries.ts';
import { publicKeyFrom } from './public-key-from.ts';
import type { Wanted, WantedClient } from './wanted.ts';

/** The most octets of a file: enough for some 30,000 people. */
const LONGEST = 8 * 2 ** 20;
/** The limits of a file with a secret. */
const SECRET = { most: 4096, regular: true };

/**
 * Reads a file of `countersign apply`. Throws a `Failure` that names the path of every mistake that can be found
 * without a store, and contains no value of the file. `-` is standard input.
 */
export async function readDeclared(path: string, config: Config, shell: Shell): Promise<Wanted> {
  const text =
    path === '-'
      ? textOf(STDIN, await shell.readStdin(LONGEST))
      : await fileText(path, { most: LONGEST });
  const entries = goodEntries(parse(path, text));
  const { file, at } = entries;
  const mistakes = [...entries.mistakes, ...twice(entries), ...unknownRealms(entries, config)];
  const folder = dirname(path);

  /** Reads each entry of a part, and notes the mistakes in it. */
  async function each<E, W>(
    part: Part,
    those: readonly E[],
    read: (entry: E) => Promise<W>,
  ): Promise<(W | undefined)[]> {
    const all: (W | undefined)[] = [];
    for (const [index, entry] of those.entries()) {
      try {
        all.push(await read(entry));
      } catch (error) {
        all.push(undefined);
        const place = at(part, index);
        if (error instanceof InputError) {
          mistakes.push({ path: [place, ...error.path].join('.'), message: error.message });
        } else if (error instanceof Failure) {
          mistakes.push({ path: place, message: error.message });
        } else throw error;
      }
    }
    return all;
  }

  const documents: string[] = [];
  const described: WantedClient[] = [];
  await each('clients', file.clients, async (entry) => {
    if ('document' in entry) {
      documents.push(entry.document);
      return;
    }
    const { secret_file, ...client } = entry;
    const fromFile = secret_file && { secret_hash: await secretIn(resolve(folder, secret_file)) };
    if (fromFile && client.secret_hash) throw new Failure(ONE_OF('secret_hash', 'secret_file'));
    const made = clientFrom({ ...client, ...fromFile }, config);
    for (const note of made.notes) shell.note(`Note: client ${client.client_id}: ${note}`);
    described.push(made.client);
  });
  if (documents.length > 0 && openToDocuments(config).length === 0)
    shell.note(`Note: ${NOTHING_OPEN}`);
  const keys = await each('api_keys', file.api_keys, async (entry) => {
    const { key_file, used_at: _, ...key } = entry;
    checkRealm(key.realm, config);
    const fromFile = key_file && (await keyIn(resolve(folder, key_file)));
    if (fromFile && key.secret_hash) throw new Failure(ONE_OF('secret_hash', 'key_file'));
    const { id, secret_hash } = { ...key, ...fromFile };
    if (id === undefined || secret_hash === undefined) {
      throw new Failure('has neither id and secret_hash nor key_file: write one of them');
    }
    if (key.id !== undefined && key.id !== id) throw new Failure('id is not that of key_file');
    return { ...key, id, secret_hash };
  });
  const publicKeys = await each('public_keys', file.public_keys, async (entry) =>
    publicKeyFrom(entry, config),
  );
  mistakes.push(
    ...twiceIn(keys, ['api_keys', 'id'], at, (key) => key?.id),
    ...twiceIn(publicKeys, ['public_keys', 'id'], at, (key) => key?.id),
  );
  if (mistakes.length > 0) throw refusal(path, mistakes);
  return {
    people: file.people,
    clients: described,
    documents,
    keys: keys.flatMap((key) => key ?? []),
    publicKeys: publicKeys.flatMap((key) => key ?? []),
  };
}

const ONE_OF = (one: string, other: string) => `has ${one} and ${other}: leave one of them out`;

function parse(path: string, text: string): unknown {
  try {
    return parseStrictJson(text);
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error;
    const place = error.path.join('.') || jsonFault(text) || '';
    throw refusal(path, [{ path: place, message: error.message }]);
  }
}

function refusal(path: string, mistakes: readonly Mistake[]): Failure {
  const lines = mistakes.map((one) => `  ${one.path || 'all'}: ${one.message}`);
  return new Failure(`${path} cannot be applied:`, ...firstMistakes(lines));
}

const twice = ({ file: { people, clients }, at }: GoodEntries) => [
  ...twiceIn(people, ['people', 'name'], at, ({ name }) => name),
  ...twiceIn(people, ['people', 'id'], at, ({ id }) => id),
  ...twiceIn(clients, ['clients', 'client_id'], at, (client) =>
    'document' in client ? undefined : client.client_id,
  ),
  ...twiceIn(clients, ['clients', 'document'], at, (client) =>
    'document' in client ? client.document : undefined,
  ),
];

/** `valueOf` returns undefined for an entry without the member. */
function twiceIn<E>(
  entries: readonly E[],
  [part, member]: readonly [Part, string],
  at: GoodEntries['at'],
  valueOf: (entry: E) => string | undefined,
): Mistake[] {
  const seen = new Set<string>();
  return entries.flatMap((entry, index) => {
    const value = valueOf(entry);
    return value !== undefined && seen.size === seen.add(value).size
      ? [{ path: `${at(part, index)}.${member}`, message: 'is that of an earlier entry' }]
      : [];
  });
}

function unknownRealms({ file, at }: GoodEntries, { spaces, proxy }: Config): Mistake[] {
  const known = new Set([...spaces.map(({ realm }) => realm), ...(proxy ? [proxy.realm] : [])]);
  return file.realms.flatMap((realm, index) =>
    known.has(realm)
      ? []
      : [
          {
            path: at('realms', index),
            message: `is no realm of the configuration, which has: ${[...known].join(', ')}`,
          },
        ],
  );
}

/** Returns the hash of a client's secret. The secret is too long to be guessed, so a fast hash is enough. */
async function secretIn(path: string): Promise<string> {
  const text = (await fileText(path, SECRET)).replace(/\r?\n$/, '');
  if (!/^[\x21-\x7e]{32,}$/.test(text)) {
    throw new Failure(`${path} must hold a secret of at least 32 visible ASCII characters`);
  }
  return hash('sha256', text, 'base64url');
}

async function keyIn(path: string): Promise<Pick<ApiKeyRecord, 'id' | 'secret_hash'>> {
  const key = parseApiKey((await fileText(path, SECRET)).trim());
  if (key === undefined) throw new Failure(`${path} must hold an API key as key add prints it`);
  return { id: key.id, secret_hash: apiKeySecretHash(key.secret) };
}
