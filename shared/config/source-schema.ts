import * as z from 'zod';
import { isLoopback } from '#shared/http/loopback.js';
import { SOURCE_NAME } from '#shared/people/identities.ts';
import { groupName } from '#shared/people/profile-schema.ts';

/** A domain in lower case. */
const DOMAIN =
  /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/;

/** An issuer (OpenID Connect Discovery 1.0 section 2), over http only on this machine. */
function isIssuer(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.search !== '' || url.hash !== '' || url.username !== '') return false;
  if (text !== url.href && `${text}/` !== url.href) return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname));
}

const provider = z
  .strictObject({
    issuer: z
      .string()
      .refine(isIssuer, {
        error: 'must be the https URL of an OpenID Provider, exactly as its metadata has it',
      })
      .describe(
        'Issuer of the OpenID Provider. Its metadata is at `/.well-known/openid-configuration` below this URL. Over http only on loopback.',
      ),
    clientId: z.string().min(1).max(1024).describe('The `client_id` of this server there.'),
    clientSecretFile: z
      .string()
      .min(1)
      .optional()
      .describe('File with the client secret. Without it this server is a public client there.'),
    scopes: z
      .array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/, 'must be a scope-token'))
      .default(['openid', 'profile', 'email'])
      .refine((scopes) => scopes.includes('openid'), { error: 'must contain openid' })
      .describe('Scopes to request. A provider may need another one for groups.'),
  })
  .describe('Sign-in by an OpenID Provider. Register `ISSUER/sign-in/with/NAME/callback` there.');

/** A source of people: where they have an account besides the one here. */
export const sourceSchema = z.strictObject({
  name: z
    .string()
    .regex(SOURCE_NAME, 'must be 1 to 32 lower-case letters, digits and -, and begin with a letter')
    .describe('Name in URLs, commands and records. People belong to it: never change it.'),
  title: z
    .string()
    .min(1)
    .max(40)
    .optional()
    .describe('Name on pages, as in "Sign in with TITLE". Default: `name`.'),
  newcomers: z
    .enum(['refused', 'created'])
    .default('refused')
    .describe(
      'What happens to a person whom this server does not know. `refused`: a page says so; a person with an account here may link the other account on the account page. `created`: the server makes an account.',
    ),
  emails: z
    .strictObject({
      verifiedFor: z
        .array(z.string().regex(DOMAIN, 'must be a domain in lower case, such as example.org'))
        .default([])
        .describe(
          'Domains for which this server trusts the source: an address that the source calls verified is verified here. Any other address is unverified.',
        ),
    })
    .prefault({})
    .describe('Mail addresses from the source.'),
  groups: z
    .strictObject({
      from: z.string().min(1).max(64).default('groups').describe('The claim with the groups.'),
      map: z
        .record(z.string().min(1).max(256), groupName)
        .describe('Groups here by group there. Any other group there means nothing.'),
    })
    .optional()
    .describe(
      'Groups of people whom this source brought. Each sign-in replaces them. Without this member the source gives no groups, and operators give them.',
    ),
  provider,
});
