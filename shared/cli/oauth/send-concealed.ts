import { createPrivateKey, type KeyObject } from 'node:crypto';
import { concealedCredentials } from '#shared/auth/schemes/concealed/prove.ts';
import type { Message, Reply } from '#shared/client/send.ts';
import { sendBound } from '#shared/client/send-bound.ts';
import { Failure, UsageError } from '../arguments/command.ts';
import { fileContent } from '../arguments/bounded-file.ts';
import { LONGEST } from './http.ts';

/** Sends one request with a Concealed proof by the private key in a file (RFC 9729). Throws `Failure`. */
export async function sendConcealed(message: Message, file: string): Promise<Reply> {
  if (!message.url.startsWith('https:')) throw new UsageError('--concealed needs a URL of https');
  const key = await privateKeyIn(file);
  const fieldsOf: Parameters<typeof sendBound>[1] = (socket) => {
    if (socket.getProtocol() !== 'TLSv1.3') {
      throw new Failure('the server does not speak TLS 1.3, which Concealed needs (RFC 9729)');
    }
    const Authorization = concealedCredentials({
      key,
      url: message.url,
      exporter: (label, context, length) => socket.exportKeyingMaterial(length, label, context),
    });
    if (Authorization === undefined) {
      throw new Failure(`${file} has a key of a type that Concealed does not take`);
    }
    return { Authorization };
  };
  return sendBound(message, fieldsOf, LONGEST);
}

async function privateKeyIn(file: string): Promise<KeyObject> {
  const content = await fileContent(file);
  // PKCS #8 has this word in its first line (RFC 7468 section 11), older files in Proc-Type (RFC 1421 section 4.6.1.1).
  if (content.includes('ENCRYPTED')) {
    throw new Failure(`${file} is encrypted, and this command asks for no passphrase`);
  }
  try {
    return createPrivateKey(content);
  } catch {
    throw new Failure(`${file} has no private key`);
  }
}
