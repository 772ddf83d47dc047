import { z } from 'zod';
import { absoluteUrl, fieldName, seconds } from '#shared/base/members.ts';

const webSocketLimits = z.strictObject({
  most: z
    .int()
    .min(1)
    .max(100_000)
    .default(1000)
    .describe(
      'open at a time; one account may hold a quarter of what others leave, one address a third',
    ),
  idle: seconds(1, 86_400).default(300).describe('one in which nothing moves for so long ends'),
  total: seconds(1, 604_800).default(86_400).describe('one ends after so long in any case'),
});

/** The application behind a space that serves `upstream`. */
export const upstreamSchema = z
  .strictObject({
    url: absoluteUrl
      .optional()
      .describe('where the application is: its path stands for that of the space'),
    urls: z
      .array(absoluteUrl)
      .min(1)
      .optional()
      .describe('instead of url: several that do the same, of which the least busy is asked'),
    name: z
      .string()
      .min(1)
      .max(256)
      .optional()
      .describe('audience of the statement on who was let in; default: the first URL'),
    timeout: seconds(1, 86_400)
      .default(60)
      .describe('for an answer to begin, and between two pieces of it'),
    connections: z
      .int()
      .min(1)
      .max(10_000)
      .default(100)
      .describe(
        'at a time to one URL; one account may hold a quarter of what others leave, one address a third',
      ),
    tls: z
      .strictObject({
        ca: z.string().min(1).optional().describe('file in PEM, trusted beside the system'),
        name: z.string().min(1).optional().describe('of the certificate; default: that of the URL'),
        http2: z.boolean().default(false).describe('asks for HTTP/2'),
      })
      .prefault({})
      .describe('to an application whose URL is https'),
    webSockets: z
      .union([z.literal(false), webSocketLimits])
      .prefault({})
      .describe('connections that stay (RFC 6455); false: none'),
    streams: z
      .enum(['end', 'finish'])
      .default('end')
      .describe(
        'what becomes of an answer or upload that is under way when whoever asked for it is revoked: it ends within two seconds, or it goes on',
      ),
    host: z
      .enum(['public', 'upstream'])
      .default('public')
      .describe('what the application reads in Host: the host of the space, or its own'),
    forwarded: z
      .enum(['x-forwarded', 'forwarded', 'none'])
      .default('x-forwarded')
      .describe('which fields tell the application of the client (RFC 7239)'),
    identity: z
      .array(z.enum(['statement', 'fields']))
      .default(['statement'])
      .describe('says who was let in: a signed statement, plain X-Auth fields, or both'),
    authorization: z
      .enum(['pass'])
      .optional()
      .describe('pass: tokens of Bearer and DPoP go on to the application as well'),
    secrets: z
      .array(fieldName)
      .default([])
      .describe('further request fields that never reach the application'),
    pass: z
      .array(fieldName)
      .default([])
      .describe(
        'fields that applications believe of their proxy, such as CF-Connecting-IP: they reach the application when trustedProxies send them, and from nobody else',
      ),
    concealedExport: z
      .boolean()
      .default(false)
      .describe(
        'tells the application what Concealed needs of the connection (RFC 9729 section 6)',
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
