import * as z from 'zod';
import { absoluteUrl, fieldName, seconds } from '#shared/base/members.ts';

const webSocketLimits = z.strictObject({
  most: z
    .int()
    .min(1)
    .max(100_000)
    .default(1000)
    .describe(
      'Open WebSockets. One account may hold a quarter of what other accounts leave free, one address a third.',
    ),
  idle: seconds(1, 86_400)
    .default(300)
    .describe('How long a WebSocket lives in which nothing moves.'),
  total: seconds(1, 604_800).default(86_400).describe('How long a WebSocket lives at most.'),
});

/** The application behind a space that serves `upstream`. */
export const upstreamSchema = z
  .strictObject({
    url: absoluteUrl
      .optional()
      .describe('URL of the application. Its path replaces the path of the space.'),
    urls: z
      .array(absoluteUrl)
      .min(1)
      .optional()
      .describe('In place of `url`: URLs of equal instances. The least busy one is asked.'),
    name: z
      .string()
      .min(1)
      .max(256)
      .optional()
      .describe('Audience of the signed statement about the client. Default: the first URL.'),
    timeout: seconds(1, 86_400)
      .default(60)
      .describe('Longest wait for an answer to begin, and between two pieces of it.'),
    connections: z
      .int()
      .min(1)
      .max(10_000)
      .default(100)
      .describe(
        'Connections to one URL. One account may hold a quarter of what other accounts leave free, one address a third.',
      ),
    tls: z
      .strictObject({
        ca: z
          .string()
          .min(1)
          .optional()
          .describe('PEM file of a CA that is trusted in addition to the CAs of the system.'),
        name: z
          .string()
          .min(1)
          .optional()
          .describe('Name in the certificate. Default: that of the URL.'),
        http2: z.boolean().default(false).describe('Asks for HTTP/2.'),
      })
      .prefault({})
      .describe('TLS to an application whose URL is `https`.'),
    webSockets: z
      .union([z.literal(false), webSocketLimits])
      .prefault({})
      .describe('WebSockets (RFC 6455). `false` refuses them.'),
    streams: z
      .enum(['end', 'finish'])
      .default('end')
      .describe(
        'What happens to an answer or upload in progress when its client is revoked: `end` cuts it off within two seconds, `finish` lets it finish.',
      ),
    host: z
      .enum(['public', 'upstream'])
      .default('public')
      .describe(
        'What the application reads in Host: `public` is the host of the space, `upstream` its own.',
      ),
    forwarded: z
      .enum(['x-forwarded', 'forwarded', 'none'])
      .default('x-forwarded')
      .describe('Fields that tell the application about the client (RFC 7239).'),
    identity: z
      .array(z.enum(['statement', 'fields']))
      .default(['statement'])
      .describe(
        'How the application learns who the caller is: `statement` is a signed JWT, `fields` are plain X-Auth fields.',
      ),
    authorization: z
      .enum(['pass'])
      .optional()
      .describe('`pass` also sends tokens of Bearer and DPoP on to the application.'),
    secrets: z
      .array(fieldName)
      .default([])
      .describe('Further request fields that never reach the application.'),
    pass: z
      .array(fieldName)
      .default([])
      .describe(
        'Fields that applications believe, such as CF-Connecting-IP. They reach the application only from `trustedProxies`.',
      ),
    concealedExport: z
      .boolean()
      .default(false)
      .describe(
        'Sends the application the key exporter output that Concealed needs (RFC 9729 section 6).',
      ),
  })
  .refine(({ url, urls }) => (url === undefined) !== (urls === undefined), {
    error: 'needs either url or urls',
  });

export type UpstreamConfig = z.infer<typeof upstreamSchema>;

/** Where the application is. */
export function upstreamUrls(upstream: UpstreamConfig | undefined): readonly string[] {
  return upstream?.urls ?? [upstream?.url ?? []].flat();
}
