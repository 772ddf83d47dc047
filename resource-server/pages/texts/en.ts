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
      text: 'A part of the request is wrong, or is not possible here. Nothing was changed.',
    },
    401: {
      title: 'This address needs credentials',
      text: 'Your browser sent none, or they are not valid. The start page of this server says which credentials each address accepts.',
    },
    403: {
      title: 'You have no access',
      text: 'Your credentials are valid, but they give no access to this address.',
    },
    404: {
      title: 'There is nothing here',
      text: 'The address may be mistyped, or the page no longer exists.',
    },
    407: {
      title: 'The proxy needs credentials',
      text: 'Your browser uses a proxy. It sent no credentials to the proxy, or they are not valid.',
    },
    413: { title: 'This is too long', text: 'The request is longer than this address accepts.' },
    429: {
      title: 'Too many requests',
      text: 'Your network sent too many requests in a short time. Wait a moment, then try again.',
    },
    5: {
      title: 'Something went wrong',
      text: 'This is our fault. The reason is in the log of the server. Try again in a moment.',
    },
    502: {
      title: 'The application does not answer',
      text: 'This server cannot reach it, or cannot read its answer. Try again in a moment.',
    },
    503: {
      title: 'We cannot answer right now',
      text: 'A part of this service is busy or does not respond. Try again in a moment.',
    },
    504: {
      title: 'The application does not answer',
      text: 'The application takes too long. Try again in a moment.',
    },
  } as Readonly<Record<number, Words>>,
  /** Links on a page that asks for credentials. */
  ways: { home: 'What this server accepts', account: 'Your account' },

  listing: {
    path: 'Where you are',
    up: 'Parent folder',
    name: 'Name',
    size: 'Size',
    modified: 'Changed',
    empty: 'This folder is empty.',
    next: 'Next page',
  },

  home: {
    title: (brand: string) => `${brand} resource server`,
    titleWithPlayground: (brand: string) => `${brand} resource server and playground`,
    lead: (authorizationServer: Html) =>
      html`Clients store documents on this server and read them with credentials. The
      ${authorizationServer} issues access tokens. This server refuses a revoked token at the next
      request.`,
    account: 'Sign in to your account',
    developers: (tutorial: Html) => html`Developers begin with ${tutorial}.`,
    commands: 'these commands',
    authorizationServer: 'authorization server',
    again: (origin: Html) => html`The same addresses are also at ${origin}.`,
    schemes: 'Accepts',
    reading: 'Reading needs',
    writing: 'Writing needs',
    noScope: 'no scope',
    metadata: 'Metadata',
    metadataText: 'for programs (RFC 9728)',
    own: 'Each person and each application has a separate tree there, which can be mounted (WebDAV).',
    authors: 'For authors of clients',
    trials: 'Each of these addresses answers with the name of the client and its scheme, in JSON:',
    playground: 'Playground: see each scheme on the wire',
    operators: 'For operators',
    ready: 'whether the server can work',
    verify: 'tells a trusted reverse proxy whether a request may pass',
  },

  playground: {
    title: 'Playground',
    lead: 'Each page here performs an exchange. A client inside this server sends the requests. You see the request and the answer of each step, and the checks of the server. Your own credentials are not used.',
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
    performText: 'The client has a separate account, which works only here.',
    mistake: 'Mistake of the client',
    noMistake: 'None',
    mistakeHere: 'Here the client makes its mistake:',
    version: 'Version of HTTP',
    fieldLists:
      'These messages went over HTTP/2. Each is shown as the list of its fields. On the wire they are compressed and divided into frames (RFC 9113).',
    inEnglish: '',
    steps: 'The steps',
    step: 'Step',
    octets:
      'The content is not text. Each octet is shown as two hexadecimal digits, from 00 to ff.',
    button: 'Perform',
    picture: 'The exchange as a picture',
    dashed:
      'Dashed arrows show steps whose messages are not below. These steps follow from the answers.',
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
      continued: 'The exchange continues: the client answers the challenge.',
      asked: 'The server asks for credentials.',
      pending: 'Not yet: the client asks again later.',
      away: 'The server cannot check this now.',
      refused: 'Refused:',
    },
    onPurpose:
      'The exchange ran to its end. Its last answer is a refusal, which the steps explain.',
    failed: 'this check failed:',
    reason: 'The reason:',
    missing: 'Schemes that are not shown here:',
  },

  explain: {
    title: 'Explain',
    lead: 'Paste a token, a proof, a challenge, credentials, a Cache-Status or If field, or a whole request or answer. You see its parts, and what a server checks.',
    kept: 'This server keeps and logs nothing of the text. It fetches only the keys of its own authorization server. Explanations are in English.',
    label: 'Text, at most 16 KB',
    button: 'Explain',
    problem: 'This text cannot be explained.',
    parts: 'Its parts',
    checks: 'The checks, in this order',
    results: RESULT_WORDS,
  },
};
