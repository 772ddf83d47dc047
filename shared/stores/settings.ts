import * as z from 'zod';
import { isVerified, readPostgresUrl } from './postgres-url.ts';
import { isRedisUrl, REDIS_URL } from './redis-url.ts';

/** Connections that a worker needs: two for feeds, and the others for transactions. */
export const LEAST_CONNECTIONS = 4;

const longestWait = z.number().min(1).max(60).default(1);

const redis = z
  .strictObject({
    mode: z
      .enum(['single', 'sentinel', 'cluster'])
      .default('single')
      .describe('One server, Redis Sentinel, or Redis Cluster.'),
    urls: z
      .array(z.string().refine(isRedisUrl, REDIS_URL))
      .min(1)
      .describe('URL of the Redis server, URLs of the sentinels, or of some nodes of the cluster.'),
    master: z.string().default('mymaster').describe('Name of the master set (`sentinel` only).'),
    prefix: z
      .string()
      .regex(/^[a-z0-9-]{1,32}$/)
      .default('cs')
      .describe(
        'Prefix of all keys in Redis. All servers of a store need the same prefix: a server with another prefix does not start.',
      ),
    replicas: z
      .int()
      .min(0)
      .max(10)
      .optional()
      .describe(
        'Number of replicas that must confirm a write before the server acknowledges the write (WAIT). Default: 1 with `sentinel` and `cluster`, 0 with `single`.',
      ),
    deadline: longestWait.describe(
      'Longest wait for an answer of Redis, in seconds. After that the request is answered 503. With `cluster`, keep it below cluster-node-timeout.',
    ),
  })
  .transform((members) => ({
    ...members,
    replicas: members.replicas ?? (members.mode === 'single' ? 0 : 1),
  }));

const postgres = z
  .strictObject({
    kind: z.literal('postgres').describe('PostgreSQL 15 or later, which several machines share.'),
    urls: z
      .array(
        z.string().superRefine((url, context) => {
          const read = readPostgresUrl(url);
          if (typeof read === 'string') context.addIssue(read);
        }),
      )
      .min(1)
      .describe(
        'URL of the server, or of the primary and its standbys in any order. `sslmode` is the only parameter. `require`, `verify-ca` and `verify-full` encrypt, and all verify the certificate and its host name. `no-verify` only encrypts. `disable`, or no `sslmode`, does neither.',
      ),
    schema: z
      .string()
      .regex(
        // PostgreSQL cuts names after 63 octets; `restore --replace` appends 18, with the time.
        /^(?!pg_|information_schema$)[a-z][a-z0-9_]{0,44}$/,
        'must be a name of at most 45 small letters, digits and _, without pg_ at its beginning',
      )
      .default('countersign')
      .describe(
        'The PostgreSQL schema with the tables of this store. A server makes a missing schema, unless the database has another store.',
      ),
    connections: z
      .int()
      .min(LEAST_CONNECTIONS)
      .max(1000)
      .default(20)
      .describe(
        `Connections of one server, which its workers share; at least ${LEAST_CONNECTIONS} for each worker.`,
      ),
    deadline: longestWait.describe(
      'Longest wait for an answer of PostgreSQL, in seconds. After that the request is answered 503.',
    ),
    ca: z
      .string()
      .min(1)
      .optional()
      .describe(
        'File with the certificate authorities of the PostgreSQL servers, in PEM. With this file the server encrypts each connection, and verifies the certificate and its host name.',
      ),
    redis: redis
      .optional()
      .describe(
        'Redis beside PostgreSQL distributes revocations to all servers at once, so that the check of a token asks only Redis. Either all servers of a store use Redis, or no server does.',
      ),
  })
  .superRefine(({ ca, urls }, context) => {
    if (ca === undefined) return;
    for (const [index, url] of urls.entries()) {
      const read = readPostgresUrl(url);
      if (typeof read === 'string' || read.ssl === undefined || isVerified(read)) continue;
      context.addIssue({
        code: 'custom',
        path: ['urls', index],
        message: 'has an sslmode without verification: remove it, or store.ca',
      });
    }
  });

/** The member `store`. */
export const storeSettings = z.discriminatedUnion(
  'kind',
  [
    z.strictObject({
      kind: z.literal('sqlite').describe('The embedded store, in `data`, for one machine.'),
    }),
    postgres,
  ],
  {
    error: ({ input }) =>
      (input as { kind?: unknown } | undefined)?.kind === 'redis'
        ? 'is "redis", which keeps no people any more: write "postgres" with its urls, and Redis beside it as store.redis'
        : undefined,
  },
);

export type StoreSettings = z.infer<typeof storeSettings>;
export type PostgresSettings = Extract<StoreSettings, { kind: 'postgres' }>;
export type RedisSettings = z.infer<typeof redis>;
