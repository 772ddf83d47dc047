import { keyPage } from '#shared/auth/schemes/hoba/key-page.ts';
import { configSchema } from '#shared/config/schema.ts';
import type { Answer } from '#shared/http/answer.ts';
import type { Frame } from '#shared/pages/document.ts';
import { createPages } from '../../sign-in/pages.ts';
import type { Space } from '../../space/spaces.ts';
import { errorPage } from './error.ts';
import { explainPage } from './explain.ts';
import { homePage } from './home.ts';
import { listingPage } from './listing.ts';
import { exchangePage, exchangesPage } from './playground.ts';

const AT = 'https://api.example';
const NOW = Date.UTC(2026, 2, 9, 7, 5);
/** One example of each layout, since the others differ only in words. */
const MESSAGES = ['needed', 'notTaken'] as const;
const STATUSES = [404, 502];

const CONFIG = configSchema.parse({});

function spaceOf(path: string, more: object): Space {
  const some = {
    url: `${AT}/${path}/`,
    origin: AT,
    realm: path,
    schemes: [{ name: 'Bearer' }, { name: 'DPoP' }],
    scopes: (method: string) => [`${path}:${method === 'GET' ? 'read' : 'write'}`],
    allScopes: [`${path}:read`, `${path}:write`],
    serves: 'documents',
    ...more,
  };
  return some as unknown as Space; // the page reads no other member
}

const SPACES = (text: string) => [
  spaceOf('documents', { realm: `documents${text}` }),
  spaceOf('dav', { tree: 'own', schemes: [{ name: 'Digest' }], scopes: () => [] }),
  spaceOf('hidden', { hide: 'forbidden' }),
  spaceOf('schemes/basic', { serves: 'identity', schemes: [{ name: 'Basic' }] }),
  spaceOf(`schemes/scram${text}`, { serves: 'identity', schemes: [{ name: 'SCRAM-SHA-256' }] }),
];

const EXCHANGE = {
  title: 'Basic',
  about: 'The client sends the name and the password with every request.',
  standard: 'RFC 7617',
  path: '/playground/basic',
  index: '/schemes/',
  document: 'how-to/schemes/basic.md',
  mistakes: { password: 'Another password' },
};

export const WAYS = { home: 'https://rs.example/', account: 'https://as.example/account' };

const EXPLAIN = { path: '/playground/explain', index: '/schemes/' };

/** Every page of the resource server in every state that looks different. `text` replaces all text from outside. */
export function samples(text = ''): Readonly<Record<string, (frame: Frame) => Answer>> {
  const signIn = ({ brand }: Frame) => createPages({ brand, issuer: 'https://as.example' });
  return {
    'rs-home': (frame) => homePage(frame, CONFIG, SPACES(text)),
    listing: (frame) =>
      listingPage(frame, {
        tree: 'documents',
        path: ['reports', `2026${text}`],
        members: [
          { name: `drafts${text}`, modified: NOW },
          {
            name: `a report with a rather long name, as people have them${text}.pdf`,
            length: 2_345_678,
            modified: NOW,
          },
          { name: 'notes.txt', length: 0, modified: NOW },
        ],
        next: `?after=notes.txt${text}`,
      }),
    'listing-empty': (frame) =>
      listingPage(frame, { tree: `documents${text}`, path: [], members: [], next: undefined }),
    exchanges: (frame) =>
      exchangesPage(frame, () => [{ ...EXCHANGE, title: `Basic${text}` }], {
        explain: '/playground/explain',
        missing: [`Negotiate${text}`],
      }),
    exchange: (frame) =>
      exchangePage(frame, {
        ...EXCHANGE,
        title: `Basic${text}`,
        longName: `The basic one${text}`,
        words: [{ word: `nonce${text}`, text: `A value${text}.`, section: 'RFC 7617' }],
        command: `curl -u a:b ${AT}/x${text}`,
        mistake: 'password',
        http2: '2',
        overHttp2: true,
        legs: [
          {
            title: 'A browser asks an issuer',
            to: 'issuer',
            from: 'browser',
            remarks: [],
            sent: { text: 'GET /keys HTTP/1.1\n\n', notes: [] },
            received: { text: 'HTTP/1.1 200 OK\n\n', notes: [] },
          },
          {
            title: 'The client asks',
            remarks: [{ text: `It finds out${text}.`, see: `${AT}/page${text}` }],
            checks: [{ check: 'It is new.', section: 'RFC 7617', result: 'right' }],
            outcome: { kind: 'refused', check: `It is new${text}.`, why: `wrong${text}` },
            sent: { text: `GET /x HTTP/1.1\nHost: api.example${text}\n\n`, notes: [] },
            received: {
              text: `HTTP/1.1 401 Unauthorized\nWWW-Authenticate: Basic realm="x"\n\n${text}`,
              notes: [
                {
                  name: `Host${text}`,
                  text: 'A challenge',
                  section: 'RFC 9110',
                  decoded: `a:b${text}`,
                  isNew: true,
                },
              ],
            },
          },
        ],
      }),
    explain: (frame) =>
      explainPage(frame, {
        ...EXPLAIN,
        text: `Authorization: Basic YTpi${text}`,
        explained: [
          {
            what: `Basic credentials${text}`,
            standard: 'RFC 7617',
            parts: [
              { name: `name${text}`, value: `alice${text}` },
              { name: 'iat', value: '2026-01-01', note: `The time${text}.`, section: 'RFC 7519' },
            ],
            checks: [
              { check: 'It has its form.', section: 'RFC 7617', result: 'right' },
              { check: 'It is whole.', section: 'RFC 7617', result: 'wrong', reason: `cut${text}` },
              { check: 'It is known.', section: 'RFC 7617', result: 'not reached' },
              {
                check: 'It is new.',
                section: 'RFC 7617',
                result: 'open',
                reason: 'Only it knows.',
              },
            ],
          },
        ],
      }),
    'explain-problem': (frame) =>
      explainPage(frame, { ...EXPLAIN, text: `hello${text}`, problem: `Nothing${text}.` }),
    key: (frame) => keyPage(frame, { origin: AT + text, spaces: [`${AT}/schemes/hoba/${text}`] }),
    ...Object.fromEntries(
      STATUSES.map((status) => [
        `error-${status}`,
        (frame: Frame) =>
          errorPage(frame, {
            status,
            detail: `What was wrong${text}.`,
            id: `8pYkqvTB${text}`,
            ways: WAYS,
          }),
      ]),
    ),
    ...Object.fromEntries(
      MESSAGES.map((what) => [
        what,
        (frame: Frame) => signIn(frame).message(400, what, frame, `/${text}`),
      ]),
    ),
    forbidden: (frame) => signIn(frame).forbidden(frame, `alice${text}`),
    signOut: (frame) => signIn(frame).signOut(frame),
    signedOut: (frame) => signIn(frame).signedOut(frame, `/${text}`),
  };
}
