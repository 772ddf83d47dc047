import { type Command, UsageError } from '../arguments/command.ts';
import { parseField } from '../arguments/request-field.ts';
import { readData } from '../arguments/read-data.ts';
import { endGrant, type GnapClient, sendSigned } from '../gnap/ask.ts';
import { offerOf } from '../gnap/challenge.ts';
import { obtainAlone, obtainByCode, obtainByRedirect } from '../gnap/obtain.ts';
import { sendUnhurried } from '../oauth/http.ts';
import { methodAndUrl } from '../oauth/method-and-url.ts';

/** The values of `--by`, with the functions that get an access token. */
const WAYS = { code: obtainByCode, redirect: obtainByRedirect, alone: obtainAlone } as const;

const isWay = (name: string): name is keyof typeof WAYS => Object.hasOwn(WAYS, name);

export const gnapRequest: Command = {
  name: 'gnap request',
  summary: 'ask for access by GNAP, and send an HTTP request with it',
  operands: ['METHOD', 'URL'],
  options: {
    key: {
      value: 'JWKFILE',
      required: true,
      help: 'the private JWK of the client, which has kid and alg',
    },
    by: {
      value: 'WAY',
      help: 'code, redirect or alone; default: code',
    },
    access: {
      value: '"A B"',
      help: 'the access to ask for; default: the access that the resource names',
    },
    data: { value: 'DATA', help: 'the body: text, @FILE, or - for standard input' },
    header: { value: '"NAME: VALUE"', multiple: true, help: 'one more header field' },
  },
  details: [
    'With --by code a person opens a link, or types a code. With --by redirect the browser comes back to this machine.',
    'With --by alone a registered client needs no person.',
    'The command asks the resource without credentials, and reads the grant endpoint from its challenge (RFC 9635',
    'section 9.1). It signs each request with the key. The command revokes the grant of the person before it exits.',
    'The body of the answer goes to standard output, its status to standard error.',
  ],
  run: async (input, shell) => {
    const { method, url } = methodAndUrl(input.operands);
    const way = input.text('by') ?? 'code';
    if (!isWay(way)) throw new UsageError(`--by must be one of ${Object.keys(WAYS).join(', ')}`);
    const fields = Object.fromEntries(input.texts('header').map((text) => parseField(text)));
    const body = await readData(input.text('data'), shell);
    const client: GnapClient = {
      send: sendUnhurried,
      keyFile: input.text('key') ?? '',
      clock: shell.clock,
    };
    const offer = offerOf(await sendUnhurried({ method, url, fields: {} }), url);
    const access = input.text('access') ?? offer.access;
    const { token, continuation } = await WAYS[way](client, { ...offer, access }, shell);
    const message = { method, url, fields, ...(body !== undefined && { body }) };
    const answer = await sendSigned(client, message, token);
    if (continuation !== undefined) await endGrant(client, continuation);
    shell.note(`HTTP ${answer.status}`);
    return {
      json: { status: answer.status, fields: answer.fields, body: answer.body.toString() },
      lines: [],
      content: answer.body,
      failed: answer.status >= 400,
    };
  },
};
