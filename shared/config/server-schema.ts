import * as z from 'zod';
import { LIMITS } from './server-limits.ts';
import { rate, seconds } from '#shared/base/members.ts';

/** The member `server`: limits of the servers and the proxy for one connection. */
export const serverSchema = z
  .strictObject({
    drain: seconds(0, 300)
      .optional()
      .describe(
        'Time for which a server that was asked to end says no at `/health/ready`, and still serves, so that load balancers turn away. Default: 3 in production, else 0.',
      ),
    connections: z
      .strictObject({
        address: z
          .int()
          .min(1)
          .max(1_000_000)
          .default(LIMITS.connections.address)
          .describe('From one address. Trusted proxies are not counted.'),
        total: z
          .int()
          .min(1)
          .max(1_000_000)
          .default(LIMITS.connections.total)
          .describe('From all addresses.'),
      })
      .prefault({})
      .describe(
        'Open connections of a server, all workers together. Each worker takes at most half of the files that the system allows it, and an eighth from one address.',
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
      .describe('Most fields of a header section.'),
    targetBytes: z
      .int()
      .min(1024)
      .max(65_536)
      .default(LIMITS.targetBytes)
      .describe('Greatest length of the URL.'),
    headersTimeout: seconds(1, 300)
      .default(LIMITS.headersTimeout / 1000)
      .describe('Time until the header section is complete.'),
    requestTimeout: seconds(1, 86_400)
      .default(LIMITS.requestTimeout / 1000)
      .describe('Time until the content is complete.'),
    idleTimeout: seconds(1, 3600)
      .default(LIMITS.idleTimeout / 1000)
      .describe('Time without a byte in either direction while a request is under way.'),
    keepAliveTimeout: seconds(1, 3600)
      .default(LIMITS.keepAliveTimeout / 1000)
      .describe('Time between two requests of an HTTP/1.1 connection.'),
    pace: z
      .strictObject({
        bytes: z.int().min(1).max(1_000_000).default(LIMITS.pace.bytes).describe('Bytes.'),
        seconds: seconds(1, 300)
          .default(LIMITS.pace.milliseconds / 1000)
          .describe('Length of the interval.'),
      })
      .prefault({})
      .describe(
        'Slowest pace of content: a request that sends fewer than `bytes` in each `seconds` is cut off.',
      ),
    needlessBytes: z
      .int()
      .min(0)
      .max(67_108_864)
      .default(LIMITS.needlessBytes)
      .describe('Most content that a method without content may carry. It is thrown away.'),
    leftoverBytes: z
      .int()
      .min(0)
      .max(1024 ** 3)
      .default(LIMITS.leftoverBytes)
      .describe('Most content that is read and thrown away after the end of the answer.'),
    requestsPerConnection: z
      .int()
      .min(1)
      .max(10_000_000)
      .default(LIMITS.requestsPerConnection)
      .describe('Most requests on one HTTP/1.1 connection.'),
    streams: z
      .int()
      .min(1)
      .max(10_000)
      .default(LIMITS.streams)
      .describe('Most concurrent streams of one HTTP/2 connection.'),
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
  .describe('What one connection may do, at both servers and at the forward proxy.');
