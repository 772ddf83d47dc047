import { type Clock, epochSeconds } from '#shared/base/clock.ts';
import { columns } from '#shared/base/printable.ts';
import {
  type ExplainedSignature,
  type ExplainedSignatures,
  explainSignatures,
} from '#shared/explain/http-signature.ts';
import { parseRawRequest } from '#shared/explain/raw-request.ts';
import { Unreadable } from '#shared/explain/unreadable.ts';
import { BadSignature } from '#shared/signatures/message.ts';
import { type Command, Failure, type Input, UsageError } from '../arguments/command.ts';
import { fileContent } from '../arguments/bounded-file.ts';
import { moment } from '#shared/base/moment.ts';
import { readVerifyingKeys } from '../signatures/jwk-file.ts';

export const signatureExplain: Command = {
  name: 'signature explain',
  summary:
    'explain the signatures of an HTTP request (RFC 9421): the covered components, and mistakes',
  operands: ['FILE'],
  options: {
    key: { value: 'JWKFILE', help: 'verify with the keys of this JWK or JWK Set' },
    origin: {
      value: 'URL',
      help: 'the origin of the request; default: by its tokens and its Host, with https',
    },
  },
  details: [
    'FILE: the request as HTTP/1.1 sends it, or - to read it from standard input. Also says whether GNAP accepts each',
    'signature (RFC 9635 section 7.3.1). Exit code 1: a signature or the digest of the content is wrong.',
  ],
  async run(input, shell) {
    const {
      operands: [operand = '-'],
    } = input;
    const octets = await (operand === '-' ? shell.readStdin() : fileContent(operand));
    const origin = originOf(input);
    const file = input.text('key');
    const keys = file === undefined ? new Map() : await readVerifyingKeys(file);
    try {
      const request = parseRawRequest(octets, origin);
      if (request.flaw !== undefined) throw new Failure(`${request.flaw}: name it with --origin`);
      const explained = explainSignatures(request, keys, epochSeconds(shell.clock));
      const { signatures, content } = explained;
      const wrong = signatures.some(({ signature }) => signature === 'wrong');
      const failed = wrong || content.digest === 'wrong';
      return { json: explained, lines: linesOf(explained, shell.clock), failed };
    } catch (error) {
      if (error instanceof BadSignature || error instanceof Unreadable) {
        throw new Failure(error.message);
      }
      throw error;
    }
  },
};

/** Returns the origin of the URL that was signed. Throws `UsageError` if the option's value is no origin. */
function originOf(input: Input): string | undefined {
  const origin = input.text('origin');
  if (origin === undefined || URL.parse(origin)?.origin === origin) return origin;
  throw new UsageError('--origin must be an origin such as https://api.example, without a path');
}

const WORDS: Readonly<Record<ExplainedSignature['signature'], string>> = {
  good: 'good',
  wrong: 'wrong',
  unknown: 'not checked: --key has no key with its keyid',
};

/** The parameters that are times, in seconds since the epoch (RFC 9421 section 2.3). */
const TIMES = new Set(['created', 'expires']);

const DIGESTS = {
  right: 'its digest is right',
  wrong: 'its digest is wrong',
  absent: 'the request has no Content-Digest',
};

function linesOf({ signatures, content }: ExplainedSignatures, clock: Clock): readonly string[] {
  const rows = signatures.flatMap(({ label, covers, parameters, signature, wrong, gnap }) => [
    ['label', label],
    ...covers.map(({ component, value }) => ['covers', `${component}: ${value}`]),
    ...Object.entries(parameters).map(([name, value]) => [
      name,
      TIMES.has(name) ? moment(value, clock) : String(value),
    ]),
    ['signature', wrong ? `${WORDS[signature]}: ${wrong.reason}` : WORDS[signature]],
    ['for GNAP', gnap ? `refused: ${gnap.reason}` : 'good'],
  ]);
  if (rows.length === 0) return ['The request has no signature.'];
  return columns([...rows, ['content', content.wrong?.reason ?? DIGESTS[content.digest]]]);
}
