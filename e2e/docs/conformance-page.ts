import { NOT_OFFERED } from '../conformance/not-offered.ts';
import type { Plan } from '../conformance/plan.ts';
import { PLANS } from '../conformance/plans.ts';
import { block, code, GENERATED, table } from './markdown.ts';

type Outcome = Plan['modules'][string]['outcome'];

const OUTCOMES: readonly Outcome[] = ['passed', 'warning', 'skipped'];

const count = ({ modules }: Plan, outcome: Outcome) =>
  String(Object.values(modules).filter((each) => each.outcome === outcome).length);

const SUITE = 'https://www.certification.openid.net/test/a/countersign';

const CLIENTS = [
  'npm run -s cli -- client add --name Suite --grant authorization_code --grant refresh_token',
  `--redirect-uri ${SUITE}/callback --post-logout-redirect-uri ${SUITE}/post_logout_redirect`,
  '--pkce off --scope "openid profile email address phone offline_access"',
].join(' ');

const PERSON = [
  'npm run -s cli -- user add suite',
  'npm run -s cli -- user set suite --display-name "Sue Suite" --email suite@example.com,verified --locale en-GB --picture https://auth.example/suite.png --attribute given_name=Sue --attribute family_name=Suite --attribute middle_name=May --attribute nickname=Sue --attribute profile=https://auth.example/suite --attribute website=https://suite.example/ --attribute gender=female --attribute birthdate=2001-12-31 --attribute zoneinfo=Europe/London --attribute "phone_number=+44 20 7946 0000" --attribute address.locality=Oxford --attribute address.country=GB',
].join('\n');

const CONFIGURATION = JSON.stringify(
  {
    alias: 'countersign',
    server: { discoveryUrl: 'https://auth.example/.well-known/openid-configuration' },
    client: { client_id: 'CLIENT_1', client_secret: 'SECRET_1' },
    client2: { client_id: 'CLIENT_2', client_secret: 'SECRET_2' },
    client_secret_post: { client_id: 'CLIENT_3', client_secret: 'SECRET_3' },
  },
  undefined,
  2,
);

const sectionOf = ({ name, title, variant, modules }: Plan): readonly string[] => [
  `## ${title}`,
  '',
  `The plan is ${code(name)}, with ${Object.entries(variant)
    .map(([parameter, value]) => code(`${parameter}=${value}`))
    .join(', ')}.`,
  '',
  ...table(
    ['Module', 'Demand', 'Outcome'],
    Object.entries(modules).map(([module, { demands, outcome, why }]) => [
      code(module),
      demands,
      why === undefined ? outcome : `${outcome}: ${why}`,
    ]),
  ),
  '',
];

/** The page of the conformance suite, from the tables that the suites of e2e/conformance perform. */
export const conformancePage = (): string =>
  [
    GENERATED,
    '# Conformance',
    '',
    "This page lists the modules of the OpenID Foundation's conformance suite, and how the server meets each. It is for operators who certify a deployment, and for authors of clients.",
    '',
    'We have not run the suite itself, and Countersign has no certificate. Our tests do what each module does, and demand what the module demands (`e2e/conformance`, run by `npm test`). Only the suite can certify: [run the suite](#run-the-suite).',
    '',
    ...table(
      ['Plan', ...OUTCOMES],
      PLANS.map((plan) => [plan.title, ...OUTCOMES.map((outcome) => count(plan, outcome))]),
    ),
    '',
    '- A warning does not prevent a certificate. The suite lets a server skip the skipped modules.',
    '- Some modules end with a review: the suite asks for a screenshot of the page.',
    '',
    '## Run the suite',
    '',
    'The suite at <https://www.certification.openid.net/> must reach the server by https, and the issuer must be its public name. In these examples the alias is `countersign` and the issuer `https://auth.example`.',
    '',
    '1. Make a person who has a value for each claim. `user add` prints the password, with which you sign in when the suite opens a page.',
    '2. Register three clients for Basic and Form Post. The third needs `--auth client_secret_post` in addition.',
    `3. For Back-Channel Logout, register a client with \`--logout-url ${SUITE}/backchannel_logout\` in addition.`,
    '4. Make the plan with `client_registration=static_client` and `server_metadata=discovery`, and paste the configuration.',
    '5. When you have finished, remove the clients and the person: `client remove CLIENT`, `user remove suite`. Clients with `--pkce off` are weaker than others.',
    '',
    block('sh', `${PERSON}\n${CLIENTS}`),
    '',
    block('json', CONFIGURATION),
    '',
    'Sign in again whenever the suite asks for another browser. For a screenshot, the suite says which page it wants:',
    '',
    ...table(
      ['Module', 'Page'],
      [
        [
          '`oidcc-response-type-missing`',
          'the error page, if the answer does not go to the client',
        ],
        ['`oidcc-ensure-registered-redirect-uri`', 'the error page that names the redirect URI'],
        ['`oidcc-prompt-login`, `oidcc-max-age-1`', 'the second sign-in page'],
        [
          '`oidcc-rp-initiated-logout-…` without a redirect',
          'the error page, or the page "You are signed out"',
        ],
      ],
    ),
    '',
    ...PLANS.flatMap(sectionOf),
    '## Plans that the server does not offer',
    '',
    ...table(
      ['Plans', 'The server lacks', 'Why'],
      NOT_OFFERED.map(({ names, lacks, why }) => [
        names.map(code).join(', '),
        /^\w+$/.test(lacks) ? code(lacks) : lacks,
        why,
      ]),
    ),
    '',
  ].join('\n');
