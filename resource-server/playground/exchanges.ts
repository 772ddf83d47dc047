import { apiKeyExchange } from './exchanges/api-key.ts';
import { basicExchange } from './exchanges/basic.ts';
import { bearerExchange } from './exchanges/bearer.ts';
import { digestAuthIntExchange, digestExchange } from './exchanges/digest.ts';
import { authorizationCodeExchange } from './exchanges/authorization-code.ts';
import { clientCredentialsExchange } from './exchanges/client-credentials.ts';
import { deviceCodeExchange } from './exchanges/device-code.ts';
import { dpopExchange } from './exchanges/dpop.ts';
import { concealedExchange } from './exchanges/concealed.ts';
import { gnapExchange } from './exchanges/gnap.ts';
import { hobaExchange } from './exchanges/hoba.ts';
import { mutualExchange } from './exchanges/mutual.ts';
import { conditionsExchange } from './exchanges/conditions.ts';
import { rangesExchange } from './exchanges/ranges.ts';
import { patchExchange } from './exchanges/patch.ts';
import { queryExchange } from './exchanges/query.ts';
import { cacheExchange } from './exchanges/cache.ts';
import { queryCacheExchange } from './exchanges/query-cache.ts';
import { connectExchange } from './exchanges/connect.ts';
import { webdavLockExchange } from './exchanges/webdav-lock.ts';
import { optionsExchange } from './exchanges/options.ts';
import { privateTokenExchange } from './exchanges/private-token.ts';
import { scramExchange } from './exchanges/scram.ts';
import { vapidExchange } from './exchanges/vapid.ts';
import { preflightExchange } from './exchanges/preflight.ts';
import { traceExchange } from './exchanges/trace.ts';
import type { ExchangeGroup } from '../pages/views/playground.ts';
import type { Exchange } from './exchange.ts';

/** THE table of exchanges, by group in the order of the page. The playground sends no other requests. */
export const EXCHANGE_GROUPS: Readonly<Record<ExchangeGroup, readonly Exchange[]>> = {
  passwords: [basicExchange, digestExchange, digestAuthIntExchange, scramExchange, mutualExchange],
  tokens: [
    bearerExchange,
    dpopExchange,
    clientCredentialsExchange,
    authorizationCodeExchange,
    deviceCodeExchange,
    gnapExchange,
    privateTokenExchange,
  ],
  keys: [hobaExchange, concealedExchange, apiKeyExchange, vapidExchange],
  methods: [
    conditionsExchange,
    rangesExchange,
    patchExchange,
    queryExchange,
    cacheExchange,
    queryCacheExchange,
    webdavLockExchange,
    optionsExchange,
    connectExchange,
    traceExchange,
    preflightExchange,
  ],
};

export const EXCHANGES: readonly Exchange[] = Object.values(EXCHANGE_GROUPS).flat();
