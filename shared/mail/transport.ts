import { readFile } from 'node:fs/promises';
import type { Config } from '#shared/config/schema.ts';

/** Milliseconds within which the mail server must answer. */
const CONNECT = 5000;
const ANSWER = 10_000;

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/**
 * Thrown if the mail server refuses a message permanently, so that another attempt is useless (RFC 5321 section
 * 4.2.1).
 */
export class MailRefused extends Error {
  override readonly name = 'MailRefused';
}

/**
 * Sends a message to the mail server. Resolves to the server's answer. Rejects with `MailRefused`, or with another
 * error if a later attempt may succeed.
 */
export type SendMail = (mail: Mail) => Promise<string>;

/** Opens the connection to the configured mail server. No message and no password is sent without TLS. */
export async function openMail({ brand, mail }: Pick<Config, 'brand' | 'mail'>): Promise<SendMail> {
  if (mail === undefined) return () => Promise.reject(new Error('mail is not configured'));
  const { host, port, tls, ca, user, passwordFile, from } = mail;
  // Loaded only if mail is configured, since a start does not need it.
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({
    host,
    port,
    secure: tls === 'implicit',
    requireTLS: true,
    tls: { minVersion: 'TLSv1.2', ...(ca !== undefined && { ca: await readFile(ca) }) },
    ...(user !== undefined &&
      passwordFile !== undefined && {
        auth: { user, pass: (await readFile(passwordFile, 'utf8')).trim() },
      }),
    connectionTimeout: CONNECT,
    greetingTimeout: CONNECT,
    socketTimeout: ANSWER,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return async ({ to, subject, text }) => {
    try {
      const { response } = await transport.sendMail({
        from: { name: brand.name, address: from },
        to: { name: '', address: to },
        subject,
        text,
        // RFC 3834 section 5: programs do not answer such a message automatically.
        headers: { 'Auto-Submitted': 'auto-generated' },
      });
      return response;
    } catch (error) {
      throw isFinal(error) ? new MailRefused(String(error)) : error;
    }
  };
}

/**
 * True if the recipient or the message was refused permanently. A refused password does not count, since it may be
 * corrected.
 */
function isFinal(error: unknown): boolean {
  const { code, responseCode = 0 } = error as { code?: string; responseCode?: number };
  return (code === 'EENVELOPE' || code === 'EMESSAGE') && responseCode >= 500;
}
