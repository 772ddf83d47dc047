import { z } from 'zod';
import { LIMITS } from './server-limits.ts';
import { rate, seconds } from '#shared/base/members.ts';

/** The member `server`: what the servers and the proxy take from one connection. */
export const serverSchema = z
  .strictObject({
    connections: z
      .strictObject({
        address: z.int().min(1).max(1_000_000).default(LIMITS.connections.address),
        total: z.int().min(1).max(1_000_000).default(LIMITS.connections.total),
      })
      .prefault({})
      .describe(
        'of a server, all its workers together: from one address, which is not counted for trustedProxies, and from all; at most half of the files that the system allows each worker, and an eighth from one address',
      ),
    headerBytes: z
      .int()
      .min(8192)
      .max(1_048_576)
      .optional()
      .describe(
        'request line and header section; default: 16 KiB, at the resource server 80 KiB, for the tickets of Kerberos',
      ),
    fields: z.int().min(20).max(10_000).default(LIMITS.fields).describe('of a header section'),
    targetBytes: z.int().min(1024).max(65_536).default(LIMITS.targetBytes).describe('of the URL'),
    headersTimeout: seconds(1, 300)
      .default(LIMITS.headersTimeout / 1000)
      .describe('until the header section is complete'),
    requestTimeout: seconds(1, 86_400)
      .default(LIMITS.requestTimeout / 1000)
      .describe('until the content is complete'),
    idleTimeout: seconds(1, 3600)
      .default(LIMITS.idleTimeout / 1000)
      .describe('without a byte in either direction while a request is under way'),
    keepAliveTimeout: seconds(1, 3600)
      .default(LIMITS.keepAliveTimeout / 1000)
      .describe('between two requests of HTTP/1.1'),
    pace: z
      .strictObject({
        bytes: z.int().min(1).max(1_000_000).default(LIMITS.pace.bytes),
        seconds: seconds(1, 300).default(LIMITS.pace.milliseconds / 1000),
      })
      .prefault({})
      .describe('content that is slower than these bytes in each of these times is cut off'),
    needlessBytes: z
      .int()
      .min(0)
      .max(67_108_864)
      .default(LIMITS.needlessBytes)
      .describe('content of a method that takes none; it is thrown away'),
    leftoverBytes: z
      .int()
      .min(0)
      .max(1024 ** 3)
      .default(LIMITS.leftoverBytes)
      .describe('content that nobody has read by the end of the answer; it is thrown away'),
    requestsPerConnection: z
      .int()
      .min(1)
      .max(10_000_000)
      .default(LIMITS.requestsPerConnection)
      .describe('of HTTP/1.1'),
    streams: z
      .int()
      .min(1)
      .max(10_000)
      .default(LIMITS.streams)
      .describe('requests at a time on a connection, over HTTP/1.1 those that are pipelined'),
    resets: rate
      .default(LIMITS.resets)
      .describe('streams of a connection of HTTP/2 that end by a reset'),
    controls: rate
      .default(LIMITS.controls)
      .describe('PING and SETTINGS frames of a connection of HTTP/2'),
    invalidFrames: z
      .int()
      .min(0)
      .max(1_000_000)
      .default(LIMITS.invalidFrames)
      .describe('malformed requests and empty frames of a connection of HTTP/2'),
  })
  .refine(({ headersTimeout, requestTimeout }) => headersTimeout <= requestTimeout, {
    error: 'must be at least headersTimeout',
    path: ['requestTimeout'],
  })
  .prefault({})
  .describe('what one connection may do, of both servers and the forward proxy');
