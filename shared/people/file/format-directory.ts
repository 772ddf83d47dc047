import type { ApiKeyRecord } from '#shared/stores/credentials/api-keys.ts';
import type { PublicKeyRecord } from '#shared/stores/credentials/public-keys.ts';
import type { WholePerson } from '#shared/stores/people/people.ts';
import { VERSION } from './directory-file.ts';

/**
 * The text of a directory's file (JSON), piece by piece: a line for each person and key, without what follows
 * from the rest of it.
 */
export async function* formatDirectoryFile(
  people: AsyncIterable<WholePerson> | Iterable<WholePerson>,
  apiKeys: Iterable<ApiKeyRecord>,
  publicKeys: AsyncIterable<PublicKeyRecord> | Iterable<PublicKeyRecord>,
): AsyncGenerator<string> {
  yield `{"countersign_directory": ${VERSION}, "people": [`;
  yield* lines(people, written);
  yield '\n], "api_keys": [';
  yield* lines(apiKeys, (key) => key);
  yield '\n], "public_keys": [';
  yield* lines(publicKeys, (key) => key);
  yield '\n]}\n';
}

async function* lines<T>(
  elements: AsyncIterable<T> | Iterable<T>,
  writtenAs: (element: T) => unknown,
): AsyncGenerator<string> {
  let before = '\n';
  for await (const element of elements) {
    yield before + JSON.stringify(writtenAs(element));
    before = ',\n';
  }
}

function written({ person, verifiers }: WholePerson) {
  return {
    ...person,
    aliases: undefined,
    version: undefined,
    verifier_set: undefined,
    verifiers: verifiers.map(({ kind, realm, value }) => ({ kind, realm, value })),
  };
}
