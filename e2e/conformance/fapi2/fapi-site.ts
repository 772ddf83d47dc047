import { writeFile } from 'node:fs/promises';
import { CALLBACK } from '../../pair/people-client.ts';
import { startPair } from '../../pair/pair.ts';
import { addFapiClient, type FapiClient, type Place } from './fapi-client.ts';

/** The started servers, a person, and the two clients with which the suite plays. */
export interface FapiSite extends Place, AsyncDisposable {
  readonly first: FapiClient;
  readonly second: FapiClient;
  /** Moves the clocks of the servers and the clients forward by these seconds. */
  pass(seconds: number): Promise<void>;
}

/** A second redirect URI of the second client. */
export const WITH_QUERY = `${CALLBACK}?dummy1=lorem&dummy2=ipsum`;

export async function startFapiSite(): Promise<FapiSite> {
  await using parts = new AsyncDisposableStack();
  const pair = parts.use(
    await startPair({
      env: {
        NODE_OPTIONS: `--import ${new URL('../../parts/set-clock.js', import.meta.url).href}`,
      },
      settings: ({ resource }) => ({
        spaces: [
          {
            url: `${resource}/documents/`,
            realm: 'documents',
            schemes: ['DPoP'],
            scopes: { safe: ['documents:read'], unsafe: ['documents:write'] },
            serves: 'identity',
          },
        ],
      }),
    }),
  );
  const clock = { ahead: 0 };
  const place = { pair, person: await pair.addPerson(), clock };
  const first = await addFapiClient(place);
  const second = await addFapiClient(place, ['--redirect-uri', WITH_QUERY]);
  const owned = parts.move();
  return {
    ...place,
    first,
    second,
    async pass(seconds) {
      clock.ahead += seconds;
      await writeFile(`${String(pair.env['COUNTERSIGN_CONFIG'])}.clock`, String(clock.ahead));
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
