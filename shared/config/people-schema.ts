import * as z from 'zod';
import { seconds } from '#shared/base/members.ts';

/** The setting `people`: sign-ins, consents, registration, passkeys and second factors. */
export const peopleSchema = z
  .strictObject({
    session: seconds(60, 31_536_000).default(1_209_600).describe('How long a sign-in lasts.'),
    grant: seconds(60, 31_536_000)
      .default(7_776_000)
      .describe('How long a consent lasts before the person is asked again.'),
    passkeys: z
      .strictObject({
        rpId: z
          .string()
          .regex(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/, {
            error: 'must be a domain in lower case, such as example.com',
          })
          .max(253)
          .optional()
          .describe(
            'The domain of passkeys: the host of the issuer, or a parent domain of that host. Passkeys that were made for another domain do not work.',
          ),
      })
      .prefault({})
      .describe('Passkeys of people (WebAuthn).'),
    registration: z
      .enum(['off', 'invited', 'open'])
      .default('off')
      .describe(
        'People who may create their own account. `off`: no person. `invited`: people with a link from `user invite` without a name. `open`: everybody with an email address (needs `mail`). Operators can always add people.',
      ),
    removeThemselves: z
      .boolean()
      .default(false)
      .describe(
        'Whether people may delete their own account, on the page `/account/data`. The last administrator cannot.',
      ),
    secondFactor: z
      .union([
        z.enum(['off', 'optional', 'required']),
        z.strictObject({
          required: z
            .array(z.string().min(1).normalize('NFC'))
            .min(1)
            .describe(
              'Groups whose members need a second factor. For all other people the second factor is optional.',
            ),
        }),
      ])
      .default('optional')
      .describe(
        'The people who need a one-time code beside the password: people who have set up such codes (`optional`), everybody, or people in some groups. With `off` no person needs a code, not even a person who has set codes up. A passkey replaces both factors.',
      ),
  })
  .prefault({})
  .describe('Sign-ins and consents of people.');
