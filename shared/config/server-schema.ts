import * as z from 'zod';
import { LIMITS } from './server-limits.ts';
import { rate, seconds } from '#shared/base/members.ts';

/** The member `server`: limits of the servers and the proxy for one connection. */
export const serverSchema = z
  .strictObject({
    drain: seconds(0, 300)
      .optional()
      .describe(
        'Time for which a server that is stopping answers 503 at `/health/ready` and still serves requests, so that load balancers choose other servers. Default: 3 in production, else 0.',
      ),
    connections: z
      .strictObject({
        address: z
          .int()
          .min(1)
          .max(1_000_000)
          .default(LIMITS.connections.address)
          .describe('From one address. Trusted proxies have no such limit.'),
        total: z
          .int()
          .min(1)
          .max(1_000_000)
          .default(LIMITS.connections.total)
          .describe('From all addresses.'),
      })
      .prefault({})
      .describe(
        'Open connections of a server, all workers together. Each worker uses at most half of its open files for connections, and an eighth for connections from one address.',
      ),
    headerBytes: z
      .int()
      .min(8192)
      .max(1_048_576)
      .optional()
      .describe(
        'Greatest size of request line and header section. Default: 16 KiB at the authorization server, 80 KiB at the resource server, for Kerberos tickets.',
      ),
    fields: z
      .int()
      .min(20)
      .max(10_000)
      .default(LIMITS.fields)
      .describe('Greatest number of fields in a header section.'),
    targetBytes: z
      .int()
      .min(1024)
      .max(65_536)
      .default(LIMITS.targetBytes)
      .describe('Greatest length of the URL.'),
    headersTimeout: seconds(1, 300)
      .default(LIMITS.headersTimeout / 1000)
      .describe('Longest time until the header section is complete.'),
    requestTimeout: seconds(1, 86_400)
      .default(LIMITS.requestTimeout / 1000)
      .describe('Longest time until the content is complete.'),
    idleTimeout: seconds(1, 3600)
      .default(LIMITS.idleTimeout / 1000)
      .describe('Longest time without a byte in either direction while a request is under way.'),
    keepAliveTimeout: seconds(1, 3600)
      .default(LIMITS.keepAliveTimeout / 1000)
      .describe('Longest time between two requests on an HTTP/1.1 connection.'),
    pace: z
      .strictObject({
        bytes: z.int().min(1).max(1_000_000).default(LIMITS.pace.bytes).describe('Bytes.'),
        seconds: seconds(1, 300)
          .default(LIMITS.pace.milliseconds / 1000)
          .describe('Length of the interval.'),
      })
      .prefault({})
      .describe(
        'Slowest pace of content: the server aborts a request that sends fewer than `bytes` in an interval of `seconds`.',
      ),
    needlessBytes: z
      .int()
      .min(0)
      .max(67_108_864)
      .default(LIMITS.needlessBytes)
      .describe(
        'Greatest size of the content of a method that has no use for content. The server discards this content.',
      ),
    leftoverBytes: z
      .int()
      .min(0)
      .max(1024 ** 3)
      .default(LIMITS.leftoverBytes)
      .describe(
        'Greatest size of content that the server reads and discards after the end of the answer.',
      ),
    requestsPerConnection: z
      .int()
      .min(1)
      .max(10_000_000)
      .default(LIMITS.requestsPerConnection)
      .describe('Greatest number of requests on one HTTP/1.1 connection.'),
    streams: z
      .int()
      .min(1)
      .max(10_000)
      .default(LIMITS.streams)
      .describe('Greatest number of concurrent streams on one HTTP/2 connection.'),
    resets: rate.default(LIMITS.resets).describe('Streams that one HTTP/2 connection may reset.'),
    controls: rate
      .default(LIMITS.controls)
      .describe('PING and SETTINGS frames of one HTTP/2 connection.'),
    invalidFrames: z
      .int()
      .min(0)
      .max(1_000_000)
      .default(LIMITS.invalidFrames)
      .describe('Malformed requests and empty frames of one HTTP/2 connection.'),
  })
  .refine(({ headersTimeout, requestTimeout }) => headersTimeout <= requestTimeout, {
    error: 'must be at least headersTimeout',
    path: ['requestTimeout'],
  })
  .prefault({})
  .describe('Limits of one connection, at both servers and at the forward proxy.');
