import type { Proofs } from '#shared/stores/authentication/proofs.ts';
import { digestOf } from '../connection/digest.ts';
import { inMemory, type Memory } from './memory.ts';

const spend = inMemory(`
if redis.call('SET', KEYS[2], '', 'NX', 'PX', ARGV[3]) then return 1 end
return 0
`);

/** `{namespace}:{SHA-256 of the key}`: there for as long as the key counts as used. */
export function redisProofs(memory: Memory): Proofs {
  return {
    spend: (namespace, key, once) => memory.use(spend, `${namespace}:${digestOf(key)}`, once),
  };
}
