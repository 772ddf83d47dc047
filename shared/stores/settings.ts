import { z } from 'zod';

const redis = z
  .strictObject({
    kind: z.literal('redis'),
    mode: z.enum(['single', 'sentinel', 'cluster']).default('single'),
    urls: z
      .array(z.string().regex(/^rediss?:\/\//, 'must begin with redis:// or rediss://'))
      .min(1)
      .describe('one server, the sentinels, or some nodes of the cluster'),
    master: z.string().default('mymaster').describe('name of the master set (sentinel only)'),
    prefix: z
      .string()
      .regex(/^[a-z0-9-]{1,32}$/)
      .default('cs'),
    replicas: z
      .int()
      .min(0)
      .max(10)
      .optional()
      .describe(
        'replicas that must have what was written before it is acknowledged (WAIT); default: 1 with sentinel and cluster, 0 with a single server',
      ),
    deadline: z
      .number()
      .min(1)
      .max(60)
      .default(1)
      .describe(
        'seconds for any answer of Redis; what waits for longer is refused with 503; with cluster keep it below cluster-node-timeout',
      ),
  })
  .transform((members) => ({
    ...members,
    replicas: members.replicas ?? (members.mode === 'single' ? 0 : 1),
  }));

/** The member `store`. */
export const storeSettings = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('sqlite') }),
  redis,
]);

export type StoreSettings = z.infer<typeof storeSettings>;
export type RedisSettings = Extract<StoreSettings, { kind: 'redis' }>;
