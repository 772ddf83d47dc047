import { temporaryFolder } from '../parts/temporary-folder.ts';
import type { Server } from './cpu.ts';
import { BODY, ES256, fetchJwks, furnish, ORIGIN, RS256, SCOPE, SETTINGS } from './site.ts';
import type { Site, Space } from './site.ts';
import { startBareResource } from './targets/bare.ts';
import { startCountersign } from './targets/countersign.ts';
import { startHaproxy } from './targets/haproxy.ts';
import { startRedisStore } from './targets/redis.ts';

/** All resource servers, which take the same tokens; ours on Redis takes those of its own issuer. */
export interface Resources {
  readonly koa: Server;
  readonly haproxy: { readonly es256: Server; readonly rs256: Server };
  readonly sqlite: Site;
  readonly redis: Site;
}

/** Starts them together; the stack ends them. */
export async function startResources(stack: AsyncDisposableStack): Promise<Resources> {
  const { path: folder } = stack.use(await temporaryFolder());
  const store = await startRedisStore(stack);
  const sqlite = await furnish(stack.use(await startCountersign(SETTINGS)));
  const redis = await furnish(stack.use(await startCountersign(SETTINGS, { store })));

  const jwks = await fetchJwks(sqlite);
  const { issuer } = sqlite.servers.pair;
  const expected = { issuer, scope: SCOPE, body: BODY };
  const bare = { ...expected, jwks, audience: ES256.url, origin: ORIGIN, path: ES256.path };
  const koa = stack.use(await startBareResource(bare, folder));
  const haproxy = async ({ alg, url: audience }: Space) => {
    const jwk = jwks.keys.find((key) => key.alg === alg);
    if (jwk === undefined) throw new Error(`there is no ${alg} key`);
    return stack.use(await startHaproxy({ ...expected, jwk, audience, folder }));
  };
  return {
    koa,
    haproxy: { es256: await haproxy(ES256), rs256: await haproxy(RS256) },
    sqlite,
    redis,
  };
}
