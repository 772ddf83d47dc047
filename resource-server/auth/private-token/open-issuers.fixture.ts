import { ManualClock } from '#shared/base/clock.ts';
import { configSchema } from '#shared/config/schema.ts';
import { storeFolder } from '#shared/stores/sqlite/folder.fixture.ts';
import { silentLog } from '#shared/base/log.ts';
import { longestLife } from '#shared/stores/revocation/lifetime.ts';
import { generateBlindRsaKey } from '#shared/private-token/blind-rsa.ts';
import { DIRECTORY_PATH } from '#shared/private-token/issuer-directory.ts';
import { generateVoprfKey } from '#shared/private-token/voprf-key.ts';
import { voprf } from '#shared/private-token/voprf-thread.fixture.ts';
import { systemRandom } from '#shared/base/random.ts';
import { openStores } from '#shared/stores/open.ts';
import {
  type Answers,
  directoryOf,
  json,
  readableLog,
  startIssuer,
  trusting,
  WRONG,
} from './issuer.fixture.ts';
import { openIssuers } from './open-issuers.ts';

/** Seconds. */
export const LIFE = 1200;
export const ROTATION = 1000;
export const OVERLAP = 500;
const COOLDOWN = 30;
export const voprfKey = generateVoprfKey();
export const rsaKey = await generateBlindRsaKey();

type Paths = Readonly<Record<string, Answers>>;

/** The path without the query, as a server sees it that routes by path. */
const pathOf = (target = '') => target.replace(/\?.*/, '');

const routed =
  (paths: Paths): Answers =>
  (response, asked) =>
    (paths[pathOf(asked.url)] ?? WRONG['says 404'])(response, asked);

/** Starts an authorization server and issuer at one origin, and a resource server that trusts it. */
export async function setup(verification: 'issuer' | 'store' = 'issuer') {
  const clock = new ManualClock();
  const notBefore = clock.now() / 1000;
  const stack = new AsyncDisposableStack();
  const paths = {
    [DIRECTORY_PATH]: directoryOf([
      { ...rsaKey, notBefore, notAfter: notBefore + LIFE },
      { ...voprfKey, notBefore, notAfter: notBefore + LIFE },
    ]),
    '/token': json({ access_token: 'access', token_type: 'Bearer', expires_in: 600 }),
    '/private-token/verify': json({ valid: true }),
  };
  const pair = stack.use(await startIssuer(routed(paths)));
  const config = configSchema.parse({
    data: await storeFolder(),
    issuer: pair.origin,
    jwks: { cooldown: COOLDOWN },
    privateTokens: { issuer: pair.origin, rotation: ROTATION, overlap: OVERLAP, verification },
  });
  const life = longestLife(config);
  const parts = { clock, random: systemRandom, log: silentLog, longestLife: life };
  const stores = stack.use(await openStores(config, parts));
  const master = systemRandom(32);
  const { log, lines } = readableLog();
  const trust = trusting();
  const memory: { epoch: string | undefined } = { epoch: 'first' };
  const revocations = { ...stores.revocations, epoch: async () => memory.epoch };
  const options = {
    config,
    stores: { ...stores, revocations },
    master,
    clock,
    log,
    voprf,
    send: trust,
    sendToPair: trust,
  };
  return {
    options,
    memory,
    issuers: openIssuers(options),
    paths,
    pair,
    notBefore,
    lines,
    use: stack.use.bind(stack),
    /** The requested paths, in order. */
    asked: () => pair.asked.map(({ url }) => pathOf(url)),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
