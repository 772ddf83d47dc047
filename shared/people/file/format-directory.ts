import type { ApiKeyRecord } from '#shared/stores/credentials/api-keys.ts';
import type { PasskeyRecord } from '#shared/stores/credentials/passkeys.ts';
import type { PublicKeyRecord } from '#shared/stores/credentials/public-keys.ts';
import type { SecondFactorRecord } from '#shared/stores/credentials/second-factors.ts';
import type { WholePerson } from '#shared/stores/people/people.ts';
import { VERSION } from './directory-file.ts';

type Items<T> = AsyncIterable<T> | Iterable<T>;

/** The parts of a directory's file, which are read in this order. */
export interface DirectoryParts {
  readonly people: Items<WholePerson>;
  readonly api_keys: Items<ApiKeyRecord>;
  readonly public_keys: Items<PublicKeyRecord>;
  readonly passkeys: Items<PasskeyRecord>;
  readonly second_factors: Items<SecondFactorRecord>;
}

/**
 * Yields the text of a directory's file (JSON) in pieces: a line for each person, key, passkey and second factor.
 * Members that can be derived from others are left out.
 */
export async function* formatDirectoryFile({
  people,
  api_keys,
  public_keys,
  passkeys,
  second_factors,
}: DirectoryParts): AsyncGenerator<string> {
  yield `{"countersign_directory": ${VERSION}, "people": [`;
  yield* lines(people, written);
  yield '\n], "api_keys": [';
  yield* lines(api_keys, (key) => key);
  yield '\n], "public_keys": [';
  yield* lines(public_keys, (key) => key);
  yield '\n], "passkeys": [';
  yield* lines(passkeys, (passkey) => passkey);
  yield '\n], "second_factors": [';
  yield* lines(second_factors, (factor) => factor);
  yield '\n]}\n';
}

async function* lines<T>(
  elements: Items<T>,
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
    search_keys: undefined,
    version: undefined,
    verifier_set: undefined,
    verifiers: verifiers.map(({ kind, realm, value }) => ({ kind, realm, value })),
  };
}
