/** Two people who get and spend tokens, each with data that could identify the person. */
import { randomUUID } from 'node:crypto';
import type { TokenType } from '#shared/private-token/token-types.ts';
import type { Field, HttpRequest, HttpResponse } from '../clients/digest/exchange.ts';
import { redeem } from '../clients/private-token/private-token-client.ts';
import { App, newPerson, signedIn } from '../flows/person.ts';
import type { Person } from '../pair/pair.ts';
import { CALLBACK, CODE_GRANTS } from '../pair/people-client.ts';
import {
  type Minted,
  mint,
  offerOf,
  pathOf,
  type SpaceName,
  type TokenServers,
} from './private-token.fixture.ts';

/** A person, with everything that could distinguish that person's requests. */
export interface Visitor {
  readonly person: Person;
  /** The client id of the application. */
  readonly client: string;
  /** The person's address at the issuer, and at the resource server. */
  readonly addresses: readonly [issuance: string, redemption: string];
  /** The index of the server that the person uses. */
  readonly server: number;
  readonly agent: string;
  readonly access: Field;
  /** Fields that the person sends with each request. */
  readonly fields: readonly Field[];
}

export interface Redemption {
  readonly visitor: Visitor;
  readonly type: TokenType;
  readonly space: SpaceName;
  readonly minted: Minted;
  readonly answer: HttpResponse;
  /** The answer to a second use of the token. */
  readonly replay: HttpResponse;
  /** The answer to a token with another authenticator. */
  readonly forgery: HttpResponse;
}

const PAGE = 'page.txt';
export const targetOf = (space: SpaceName) => pathOf(space) + (space === 'documents' ? PAGE : '');

export const requestFor = (
  { fields }: Pick<Visitor, 'fields'>,
  space: SpaceName,
  more: readonly Field[] = [],
): HttpRequest => ({
  method: 'GET',
  target: targetOf(space),
  fields: [...fields, ...more],
  content: Buffer.alloc(0),
});

/** Two people sign in through one application, and get access tokens for token requests. */
export async function arrive({ flow, endpoint }: TokenServers): Promise<readonly Visitor[]> {
  const args = ['--name', 'App', '--public', '--scope', 'private-token', ...CODE_GRANTS];
  const added = await flow.pair.cli('client', 'add', ...args, '--redirect-uri', CALLBACK);
  const app = new App(flow, String(added['client_id']));
  const wanted = { scope: 'private-token', resource: endpoint('request') };
  return Promise.all(
    [0, 1].map(async (server): Promise<Visitor> => {
      const person = await newPerson(flow);
      const { access } = await app.tokens(await signedIn(flow, person, server), wanted);
      const agent = `Agent-${randomUUID()}`;
      return {
        person,
        client: app.id,
        addresses: [`127.0.0.${20 + server}`, `127.0.0.${30 + server}`],
        server,
        agent,
        access: ['Authorization', `Bearer ${access}`],
        fields: [
          ['User-Agent', agent],
          ['X-Request-Id', `${agent}-request`],
          ['Cookie', `name=${agent}-cookie`],
        ],
      };
    }),
  );
}

/** Another client puts the document that both people read. */
export async function fill(servers: TokenServers): Promise<Minted> {
  const { octets } = await offerOf(servers, 'documents', 2);
  const fields = [await servers.access({ client_id: 'filler' })];
  const minted = await mint(servers, octets, { fields });
  const content = Buffer.from('The same for everybody.');
  const put = { ...requestFor({ fields: [] }, 'documents'), method: 'PUT', content };
  const { status } = await servers.origin(0)(redeem(put, minted.token));
  if (status !== 201) throw new Error(`PUT gives ${status}`);
  return minted;
}

export async function getToken(
  servers: TokenServers,
  { server, addresses, access, fields }: Visitor,
  type: TokenType,
  space: SpaceName,
): Promise<Minted> {
  const { octets } = await offerOf(servers, space, type, servers.origin(server, addresses[1]));
  const send = servers.issuer(server, addresses[0]);
  return mint(servers, octets, { send, fields: [access, ...fields] });
}

/** Gets a token and spends it; then sends it again, and sends a forged token. */
export async function visit(
  servers: TokenServers,
  visitor: Visitor,
  type: TokenType,
  space: SpaceName,
): Promise<Redemption> {
  const send = servers.origin(visitor.server, visitor.addresses[1]);
  const [minted, other] = [
    await getToken(servers, visitor, type, space),
    await getToken(servers, visitor, type, space),
  ];
  const show = (token: Buffer) => send(redeem(requestFor(visitor, space), token));
  const answer = await show(minted.token);
  const replay = await show(minted.token);
  const forgery = await show(
    Buffer.concat([other.token.subarray(0, 98), minted.token.subarray(98)]),
  );
  return { visitor, type, space, minted, answer, replay, forgery };
}
