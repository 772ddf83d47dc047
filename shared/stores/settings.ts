import * as z from 'zod';

const redis = z
  .strictObject({
    kind: z.literal('redis').describe('Redis, which several machines share.'),
    mode: z
      .enum(['single', 'sentinel', 'cluster'])
      .default('single')
      .describe('One server, Redis Sentinel, or Redis Cluster.'),
    urls: z
      .array(z.string().regex(/^rediss?:\/\//, 'must begin with redis:// or rediss://'))
      .min(1)
      .describe('URL of the one server, of the sentinels, or of some nodes of the cluster.'),
    master: z.string().default('mymaster').describe('Name of the master set (`sentinel` only).'),
    prefix: z
      .string()
      .regex(/^[a-z0-9-]{1,32}$/)
      .default('cs')
      .describe('Prefix of all keys.'),
    replicas: z
      .int()
      .min(0)
      .max(10)
      .optional()
      .describe(
        'Replicas that must confirm a write before it is acknowledged (WAIT). Default: 1 with `sentinel` and `cluster`, 0 with `single`.',
      ),
    deadline: z
      .number()
      .min(1)
      .max(60)
      .default(1)
      .describe(
        'Longest wait for an answer of Redis, in seconds. After that the request is answered 503. With `cluster`, keep it below cluster-node-timeout.',
      ),
  })
  .transform((members) => ({
    ...members,
    replicas: members.replicas ?? (members.mode === 'single' ? 0 : 1),
  }));

/** The member `store`. */
export const storeSettings = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('sqlite').describe('The embedded store, in `data`, for one machine.'),
  }),
  redis,
]);

export type StoreSettings = z.infer<typeof storeSettings>;
export type RedisSettings = Extract<StoreSettings, { kind: 'redis' }>;

/** PostgreSQL, which several machines share. */
export interface PostgresSettings {
  readonly kind: 'postgres';
  /** One server, or a primary and its standbys in any order. */
  readonly urls: readonly string[];
  /** The schema with the tables of one store; made when missing. */
  readonly schema: string;
  /** Connections at once. */
  readonly connections: number;
  /** Longest wait for an answer, in seconds. */
  readonly deadline: number;
}
