/**
 * One of many processes that start at once: it opens the gateway's keys, as a resource server does, and
 * prints them.
 */
import { once } from 'node:events';
import { systemClock } from '#shared/base/clock.ts';
import { silentLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import { loadConfig } from '#shared/config/load.ts';
import { readMasterSecret } from '#shared/config/secret.ts';
import { keyLifecycle } from '#shared/keys/signing-key-lifecycle.ts';
import { openKeyRing } from '#shared/keys/signing-key-ring.ts';
import { openStores } from '#shared/stores/open.ts';

const config = await loadConfig(process.env);
const master = await readMasterSecret(config, process.env);
const [clock, random] = [systemClock, systemRandom];
await using stores = await openStores(config, { clock, random, log: silentLog });
process.send?.('ready');
await once(process, 'message');
const parts = { config, stores, master, clock, random };
const { current } = await openKeyRing(keyLifecycle('gatewayKeys', parts), ['ES256']);
process.send?.(current.signingKid('ES256'));
process.disconnect?.();
