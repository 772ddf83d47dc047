import { RESULT_WORDS } from '#shared/explain/checks.ts';
import { html, type Html } from '#shared/pages/html.ts';

/** The texts of the resource server's pages. Other languages have the same members. */
export type Texts = typeof en;

interface Words {
  readonly title: string;
  readonly text: string;
}

export const en = {
  /** Texts by status. 4 and 5 are for any other status of that class. */
  errors: {
    4: {
      title: 'This request cannot be answered',
      text: 'Something in what was asked is wrong or not possible here. Nothing was changed.',
    },
    401: {
      title: 'You are not let in',
      text: 'This address asks who you are. What your browser has shown is missing or not valid.',
    },
    403: {
      title: 'You may not enter',
      text: 'What your browser has shown does not open this address.',
    },
    404: {
      title: 'There is nothing here',
      text: 'The address may be mistyped, or what was here is gone.',
    },
    407: {
      title: 'The proxy asks who you are',
      text: 'Your browser uses a proxy. What it has shown there is missing or not valid.',
    },
    413: { title: 'This is too long', text: 'Less than what was sent is taken here.' },
    429: {
      title: 'Too many requests',
      text: 'Too much was asked from here in a short time. Wait a moment, then try again.',
    },
    5: {
      title: 'Something went wrong',
      text: 'This is our fault. The reason is in the log of the server. Try again in a moment.',
    },
    502: {
      title: 'The application does not answer',
      text: 'It cannot be reached, or what it says cannot be understood. Try again in a moment.',
    },
    503: {
      title: 'We cannot answer right now',
      text: 'A part of this service is busy or does not respond. Try again in a moment.',
    },
    504: {
      title: 'The application does not answer',
      text: 'It takes too long. Try again in a moment.',
    },
  } as Readonly<Record<number, Words>>,

  listing: {
    path: 'Where you are',
    up: 'Parent folder',
    name: 'Name',
    size: 'Size',
    modified: 'Changed',
    empty: 'Nothing is in here.',
    next: 'Next page',
  },

  home: {
    title: (brand: string) => `${brand} resource server`,
    titleWithPlayground: (brand: string) => `${brand} resource server and playground`,
    lead: (authorizationServer: Html) =>
      html`This server keeps documents and lets in whoever shows credentials for them. Tokens come
      from the ${authorizationServer}. A token that is revoked is refused by the next request.`,
    authorizationServer: 'authorization server',
    again: (origin: Html) => html`All of it is at ${origin}, too.`,
    schemes: 'Takes',
    reading: 'Reading needs',
    writing: 'Writing needs',
    noScope: 'no scope',
    metadata: 'Metadata',
    metadataText: 'for programs (RFC 9728)',
    own: 'Every person and application finds a tree of their own there, which can be mounted (WebDAV).',
    authors: 'For authors of clients',
    trials: 'Each of these answers, in JSON, who the client is and by which scheme:',
    playground: 'Playground: see each scheme on the wire',
    operators: 'For operators',
    ready: 'whether the server can work',
    verify: 'answers a trusted reverse proxy whether a request may pass',
  },

  playground: {
    title: 'Playground',
    lead: 'Each page here performs an exchange: a client of the server’s own sends the requests, and you see both messages of each step, and what the server checks. Your own credentials are not used.',
    groups: {
      passwords: 'With a password',
      tokens: 'With a token',
      keys: 'With a key',
      methods: 'Methods, caches and proxies',
    },
    path: 'Where you are',
    longName: 'Stands for',
    words: 'Words of this page',
    standard: 'Standard',
    document: 'Document',
    command: 'From your own shell',
    perform: 'Perform the exchange',
    performText: 'The client has an account of its own, which is good for nothing else.',
    mistake: 'Mistake of the client',
    noMistake: 'None',
    mistakeHere: 'Here the client makes its mistake:',
    version: 'Version of HTTP',
    fieldLists:
      'These messages went over HTTP/2. Each is shown as the list of its fields. On the wire they are compressed and divided into frames (RFC 9113).',
    inEnglish: '',
    steps: 'The steps',
    step: 'Step',
    octets: 'The content is not text. Two hexadecimal digits, from 00 to ff, stand for each octet.',
    button: 'Perform',
    picture: 'The exchange as a picture',
    dashed: 'Dashed arrows are not among the messages below: they follow from the answers.',
    parties: {
      client: 'Client',
      browser: 'Browser',
      userAgent: 'User agent',
      applicationServer: 'Application server',
      server: 'Server',
      pushService: 'Push service',
      application: 'Application',
      issuer: 'Issuer',
      proxy: 'Proxy',
      authorization: 'Authorization server',
    },
    sentBy: {
      client: 'The client sends',
      browser: 'The browser sends',
      userAgent: 'The user agent sends',
      applicationServer: 'The application server sends',
    },
    promised: 'The server promises this request',
    answeredBy: {
      server: 'The server answers',
      pushService: 'The push service answers',
      issuer: 'The issuer answers',
      proxy: 'The proxy answers',
      authorization: 'The authorization server answers',
    },
    decoded: 'Decoded, this says:',
    fields: 'What the fields mean',
    checks: 'What the server checks, in this order',
    outcomes: {
      accepted: 'Accepted.',
      continued: 'The exchange goes on: the client answers the challenge.',
      asked: 'The server asks for credentials.',
      pending: 'Not yet: the client asks again later.',
      away: 'The server does not look at this now.',
      refused: 'Refused:',
    },
    failed: 'this check failed:',
    reason: 'The reason:',
    missing: 'Schemes that are not shown here:',
  },

  explain: {
    title: 'Explain',
    lead: 'Paste a token, a proof, a challenge, credentials, a Cache-Status or If field, or a whole request or answer. You see its parts, and what a server checks.',
    kept: 'This server keeps and logs nothing of it, and fetches nothing. Explanations are in English.',
    label: 'Text, at most 16 KB',
    button: 'Explain',
    problem: 'This cannot be explained.',
    parts: 'Its parts',
    checks: 'What is checked, in this order',
    results: RESULT_WORDS,
  },
};
