import * as z from 'zod';

/**
 * A scheme and at least one more character of a URI (RFC 3986 section 2). `URL` would accept other characters in
 * `mailto:` and `tel:`.
 */
const URI = /^[a-z]+:[\w:/?#[\]@!$&'()*+,;=.~%-]+$/;

/** A URI in its normal form. It has no line break, which would begin a new line of security.txt. */
const uri = z
  .string()
  .refine((value) => URI.test(value) && URL.canParse(value) && new URL(value).href === value, {
    error: 'must be an absolute URI in its normal form',
  });

/** The setting `security`: what security.txt tells of the operator (RFC 9116 section 2.5). */
export const securitySchema = z
  .strictObject({
    contacts: z
      .array(
        uri.regex(
          /^(?:mailto:|tel:|https:\/\/)/,
          'must begin with mailto:, tel: or https:// (RFC 9116 section 2.5.3)',
        ),
      )
      .min(1)
      .max(10)
      .describe('URIs where people can report a vulnerability, in the order of your preference.'),
    expires: z.iso
      .datetime({ offset: true, error: 'must be a time such as 2027-06-30T00:00:00Z' })
      .describe(
        'Time until which these contacts are valid; RFC 9116 advises less than a year. After this time the address of security.txt is 404.',
      ),
    policy: uri
      .startsWith('https://', 'must begin with https://')
      .optional()
      .describe('Page that says how you treat reports.'),
  })
  .optional()
  .describe(
    'Contacts for reports of vulnerabilities, at `/.well-known/security.txt` of both servers (RFC 9116). Without this member there is no such page.',
  );
