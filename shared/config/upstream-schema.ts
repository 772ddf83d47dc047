import * as z from 'zod';
import { absoluteUrl, fieldName, seconds } from '#shared/base/members.ts';

const webSocketLimits = z.strictObject({
  most: z
    .int()
    .min(1)
    .max(100_000)
    .default(1000)
    .describe(
      'Greatest number of open WebSockets. One account may use a quarter of the number that other accounts leave free, one address a third.',
    ),
  idle: seconds(1, 86_400)
    .default(300)
    .describe('How long a WebSocket stays open without data in either direction.'),
  total: seconds(1, 604_800)
    .default(86_400)
    .describe('Longest time for which a WebSocket stays open.'),
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
      .describe(
        'In place of `url`: URLs of equal instances. The gateway sends a request to the least busy instance.',
      ),
    name: z
      .string()
      .min(1)
      .max(256)
      .optional()
      .describe('Audience of the signed statement about the client. Default: the first URL.'),
    timeout: seconds(1, 86_400)
      .default(60)
      .describe(
        'Longest wait for the beginning of an answer, and between two pieces of the answer.',
      ),
    connections: z
      .int()
      .min(1)
      .max(10_000)
      .default(100)
      .describe(
        'Greatest number of connections to one URL. One account may use a quarter of the number that other accounts leave free, one address a third.',
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
          .describe('Name in the certificate. Default: the host of the URL.'),
        http2: z.boolean().default(false).describe('Uses HTTP/2 for requests to the application.'),
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
        'What happens to a transfer in progress if the token of the client is revoked. `end` aborts the answer or upload within two seconds. `finish` lets the answer or upload finish.',
      ),
    host: z
      .enum(['public', 'upstream'])
      .default('public')
      .describe(
        'The field Host that the application receives: `public` is the host of the space, `upstream` is the host of the application.',
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
        'Request fields that the application trusts, such as CF-Connecting-IP. The gateway passes these fields on only from `trustedProxies`.',
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
