import { script } from './connection.ts';

/** KEYS: a hash. ARGV: field, value, the value that it replaces. 0: it was changed, or is not there any more. */
export const replaceField = script(`
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[3] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 1
`);
