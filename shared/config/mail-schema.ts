import * as z from 'zod';

/** As in RFC 5321 section 4.1.2, without quoting and literals: a Dot-string, @, and the labels of a domain. */
const ADDRESS =
  /^(?=.{3,254}$)(?=[^@]{1,64}@)[\w!#$%&'*+/=?^`{|}~-]+(\.[\w!#$%&'*+/=?^`{|}~-]+)*@[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/;

/** The setting `mail`: the SMTP server that sends messages to people. */
export const mailSchema = z
  .strictObject({
    host: z
      .string()
      .min(1)
      .describe(
        'Name of the mail server (SMTP). The certificate of the server must contain this name.',
      ),
    port: z.int().min(1).max(65_535).default(465).describe('TCP port; with `starttls` often 587.'),
    tls: z
      .enum(['implicit', 'starttls'])
      .default('implicit')
      .describe(
        'How TLS begins: with the connection (RFC 8314), or by STARTTLS (RFC 3207). The server sends no mail without TLS.',
      ),
    ca: z
      .string()
      .min(1)
      .optional()
      .describe(
        'PEM file of the authority that signed the certificate of the mail server. Default: the public authorities.',
      ),
    user: z.string().min(1).optional().describe('Name for SMTP AUTH. Default: no AUTH.'),
    passwordFile: z.string().min(1).optional().describe('File with the password for SMTP AUTH.'),
    from: z
      .string()
      .regex(ADDRESS, 'must be an address alone, such as accounts@example.com')
      .describe('Address of the sender.'),
  })
  .optional()
  .describe(
    'Sends mail to people: a link after a forgotten password, and notices of changes. Only verified addresses get mail.',
  );
