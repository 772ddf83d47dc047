import type { Person } from '../../pair/pair.ts';
import { type Pair, startPair } from '../../pair/pair.ts';
import { addFapiClient, type FapiClient } from './fapi-client.ts';

/** The started servers, a person, and the two clients with which the suite plays. */
export interface FapiSite extends AsyncDisposable {
  readonly pair: Pair;
  readonly person: Person;
  readonly first: FapiClient;
  readonly second: FapiClient;
}

export async function startFapiSite(): Promise<FapiSite> {
  await using parts = new AsyncDisposableStack();
  const pair = parts.use(
    await startPair({
      settings: ({ resource }) => ({
        spaces: [
          {
            url: `${resource}/documents/`,
            realm: 'documents',
            schemes: ['DPoP'],
            scopes: { safe: ['documents:read'], unsafe: ['documents:write'] },
          },
        ],
      }),
    }),
  );
  const person = await pair.addPerson();
  const first = await addFapiClient(pair, person);
  const second = await addFapiClient(pair, person);
  const owned = parts.move();
  return { pair, person, first, second, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
