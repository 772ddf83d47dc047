import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import type { Answer } from '#shared/http/answer.ts';
import { ATTACKS, expectStrict, skeleton } from '#shared/pages/checked.fixture.ts';
import { LANGUAGES } from '#shared/pages/language.ts';
import type { AccountAccess } from '../frame/account-view.ts';
import type { AskedItem, View } from '../frame/view.ts';
import { activityPage } from './activity.ts';
import { accountPage } from './account.ts';
import { dataPage } from './data.ts';
import { accountRemovedPage, removeAccountPage } from './remove-account.ts';
import { adminHomePage, adminSearchPage } from './admin-home.ts';
import { adminOperationPage } from './admin-operation.ts';
import { changePasswordPage } from './change-password.ts';
import { consentPage } from './consent.ts';
import { deviceConfirmPage } from './device-confirm.ts';
import { deviceEndPage } from './device-end.ts';
import { deviceEntryPage } from './device-entry.ts';
import { endEverythingPage, everythingEndedPage } from './end-everything.ts';
import { endOnePage } from './end-one.ts';
import { errorPage } from './error.ts';
import { NOW, SAMPLES, sampleView } from './samples.fixture.ts';
import { forgottenPage } from './forgotten.ts';
import { goOnPage } from './go-on.ts';
import { keyLinkPage } from './key-link.ts';
import { recoverPage } from './recover.ts';
import { recoveryCodesPage } from './recovery-codes.ts';
import { secondFactorPage } from './second-factor.ts';
import { secondStepPage } from './second-step.ts';
import { signInPage } from './sign-in.ts';
import { signOutPage } from './sign-out.ts';
import { signedOutPage } from './signed-out.ts';

/** Every view with the same text for every value that comes from elsewhere. */
function everyView(text: string): readonly Answer[] {
  const links = [{ text: { en: text }, url: text }];
  const brand = { name: text, color: '#1f5fbf', logo: text, links };
  const view: View = { ...sampleView('en'), brand, csrf: text, person: text };
  const items: AskedItem[] = [
    { id: text, text, scope: text, required: true },
    { id: text, text, values: [text], scope: text, resource: text, place: text, required: false },
  ];
  const hidden = { [`x${text}`]: text };
  const access: AccountAccess = {
    id: text,
    isDevice: true,
    since: NOW,
    lastIssue: NOW,
    address: text,
    agent: text,
  };
  const application = { id: text, name: text, items: [text], accesses: [access] };
  const signIn = {
    id: text,
    since: NOW,
    address: text,
    agent: text,
    current: true,
    by: 'password' as const,
  };
  const happened = {
    kind: 'consent.given' as const,
    at: NOW,
    client: text,
    agent: text,
    address: text,
  };
  const ends = ['done', 'denied', 'expired'] as const;
  return [
    signInPage(view, {
      action: text,
      name: text,
      client: text,
      cancel: { action: text, hidden },
      asks: 'passkey',
      hidden,
      problem: { kind: 'wrong' },
    }),
    changePasswordPage(view, {
      action: text,
      back: text,
      name: text,
      hasPassword: true,
      endsOthers: true,
    }),
    forgottenPage(view, { action: text, name: text, back: text }),
    recoverPage(view, { action: text, name: text, purpose: 'recovery', secondFactor: true }),
    secondStepPage(view, {
      action: text,
      hidden,
      client: text,
      name: text,
      state: text,
      again: text,
    }),
    secondStepPage(view, {
      action: text,
      name: text,
      state: text,
      again: text,
      setUp: { uri: text, secret: text, ways: [{ item: text, kind: 'key', name: text, since: 0 }] },
    }),
    secondFactorPage(view, {
      action: text,
      back: text,
      hasPassword: true,
      setUp: { uri: text, secret: text, ways: [{ item: text, kind: 'key', name: text, since: 0 }] },
      state: text,
      isAnother: true,
    }),
    recoveryCodesPage(view, { codes: [text], goOn: text }),
    consentPage(view, { action: text, client: text, redirectUri: 'https://app.example/', items }),
    deviceEntryPage(view, { action: text, userCode: text, problem: { kind: 'unknown' } }),
    deviceConfirmPage(view, {
      action: text,
      client: text,
      userCode: text,
      items,
      from: { address: text, agent: text, at: NOW },
    }),
    ...ends.map((end) => deviceEndPage(view, { end, client: text, again: text })),
    signOutPage(view, { action: text, hidden, client: text }),
    goOnPage(view, { href: 'https://app.example/', client: text }),
    signedOutPage(view),
    signedOutPage(view, [text]),
    signedOutPage(view, [text], { href: 'https://app.example/', client: text }),
    errorPage(view, {
      status: 400,
      kind: 'request',
      detail: text,
      back: { href: text, text: 'client' },
    }),
    accountPage(view, {
      name: text,
      profile: {
        display_name: text,
        emails: [{ address: text, verified: false }],
        groups: [text],
      },
      starts: [{ name: text, url: 'https://app.example/"><b>', logo: 'https://app.example/"><b>' }],
      lists: { signIns: [signIn], applications: [application], more: [] },
      activity: { entries: [happened], all: text },
      ways: { hasPassword: true, passkeys: 1 },
      keys: [{ id: text, name: text, scheme: text, origin: text, since: 1 }],
      keyOrigins: [text],
      link: text,
      data: text,
    }),
    dataPage(view, { file: text, removal: text, back: text }),
    removeAccountPage(view, {
      action: text,
      person: { id: text, name: text },
      file: text,
      back: text,
      applications: [text],
      isMore: false,
    }),
    accountRemovedPage(view, { untold: [text] }),
    activityPage(view, {
      entries: [happened],
      isFirst: false,
      older: text,
      newest: text,
      back: text,
    }),
    keyLinkPage(view, { link: text, back: text }),
    endEverythingPage(view, {
      action: text,
      back: text,
      lists: { signIns: [signIn], applications: [application] },
      isMore: false,
    }),
    endOnePage(view, {
      kind: 'passkey',
      name: text,
      action: text,
      fields: { id: text },
      back: text,
      isHere: false,
      browsers: [text],
      applications: [text],
    }),
    everythingEndedPage(view, { signIns: 1, grants: 1, untold: [text], again: text }),
    adminHomePage(view, {
      name: text,
      nav: navOf(text),
      figures: [[text, text]],
      notices: [{ text, href: text, detail: text }],
      recent: sectionOf(text),
      links: [{ href: text, text }],
    }),
    adminSearchPage(view, { nav: navOf(text), sections: [sectionOf(text), eventsOf(text)] }),
    ...adminPages(view, text),
  ];
}

const navOf = (text: string) => ({
  sections: [{ href: text, text }],
  groups: [{ href: text, text }],
  search: text,
  searched: text,
});

const eventsOf = (text: string) => ({
  id: text,
  title: text,
  events: [
    {
      at: 0,
      title: text,
      about: text,
      details: [
        [text, text],
        [text, { href: text, text }],
      ] as const,
    },
  ],
  next: text,
});

/** A part of a page of administrators with this text everywhere. */
const sectionOf = (text: string) => ({
  id: text,
  title: text,
  columns: [text, 'list'],
  rows: [
    {
      item: { [text]: text, list: [{ [text]: text }] },
      cells: { list: { href: text, text } },
      links: [{ href: text, text }],
    },
  ],
  more: { href: text, text },
});

function adminPages(view: View, text: string): readonly Answer[] {
  const field = { name: text, label: text, values: [text], required: true, problem: text };
  const kinds = ['text', 'secret', 'number', 'lines', 'choice', 'choices'] as const;
  const common = {
    nav: navOf(text),
    title: text,
    text,
    path: [{ text, href: text }, { text }],
    hidden: { [text]: text },
    submit: text,
    warning: text,
    home: text,
    action: text,
    fields: kinds.map((kind) =>
      Object.assign({ kind, options: [{ value: text, label: text }] }, field),
    ),
    once: text,
    problem: { kind: 'refused', text } as const,
    kinds: [{ href: text, text, does: text }],
    lines: text,
    links: [{ href: text, text }, { href: text, text, danger: true, does: text } as const],
    sections: [sectionOf(text)],
  };
  const item = { [text]: text, list: [text, { text }] };
  const told = { kind: 'list', columns: [text, 'list'], rows: [{ item, href: text }] } as const;
  return [
    adminOperationPage(view, { ...common, effect: 'changes' }),
    adminOperationPage(view, { ...common, effect: 'reads', told: { ...told, next: text } }),
    adminOperationPage(view, {
      ...common,
      effect: 'changes',
      done: text,
      told: { kind: 'one', value: item },
    }),
  ];
}

test('sign-in pages name the client only, if there are both a client and a purpose', () => {
  const props = { action: '/sign-in', client: 'Papertrail', purpose: 'device' as const };
  const step = { ...props, name: 'alice', state: 'sealed', again: '/sign-in' };
  for (const { body = '' } of [signInPage(view, props), secondStepPage(view, step)]) {
    expect(body).toContain('to continue to <strong>Papertrail</strong>');
    expect(body).not.toContain('to connect a device');
  }
});

test('the page for an invalid link has a button to the account page', () => {
  const hrefs = ['recovery-gone', 'registration-gone', 'address-gone'].map(
    (name) => /<a class="button" href="([^"]*)"/.exec(String(SAMPLES[name]?.(view).body))?.[1],
  );
  expect(hrefs).toEqual(['/account', '/account', '/account']);
});

describe('text of users and clients', () => {
  const harmless = everyView('x');

  test.each(ATTACKS)('`%s` in data of users is shown as text on every page', (attack) => {
    for (const [index, answer] of everyView(`x${attack}`).entries()) {
      expect(skeleton(answer)).toEqual(skeleton(harmless[index] ?? answer));
      expect(answer.fields).toEqual(harmless[index]?.fields);
    }
  });

  test('no text of users or clients changes the elements, the attributes or the header fields of a page', () => {
    const unit = fc.constantFrom(...`<>&"'=/ -!;\n\0`.split(''), 'script', 'a', 'é', '\u2028');
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 40 }), (text) => {
        for (const [index, answer] of everyView(`x${text}`).entries()) {
          expect(skeleton(answer)).toEqual(skeleton(harmless[index] ?? answer));
          expect(answer.fields).toEqual(harmless[index]?.fields);
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe.each(Object.entries(SAMPLES))('%s', (_name, page) => {
  const pages = LANGUAGES.map((language) => page(sampleView(language)));

  test.each(pages)(
    'the page has a strict Content-Security-Policy, and no other script or style',
    expectStrict,
  );

  test('forms sent by POST have the CSRF token, and other forms have no secret', () => {
    for (const { body = '' } of pages) {
      for (const form of body.match(/<form[^]*?<\/form>/g) ?? []) {
        const posts = /^<form[^>]* method="post"/.test(form);
        expect([form, form.includes('proof-of-the-form')]).toEqual([form, posts]);
      }
    }
  });

  test('ids are unique, and each label and description of a field exists', () => {
    for (const { body = '' } of pages) {
      const ids = [...body.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id);
      expect(new Set(ids).size).toBe(ids.length);
      for (const [, list = ''] of body.matchAll(/\saria-(?:describedby|labelledby)="([^"]*)"/g)) {
        expect(ids).toEqual(expect.arrayContaining(list.split(' ')));
      }
    }
  });
});

const view = sampleView('en');
const fieldOf = ({ body = '' }: Answer, name: string) =>
  new RegExp(`<input[^>]*\\sname="${name}"[^>]*>`).exec(body)?.[0] ?? '';

describe('sign-in', () => {
  test('the first empty field has the focus', () => {
    const empty = signInPage(view, { action: '/sign-in' });
    expect(fieldOf(empty, 'name')).toContain('autofocus');
    expect(fieldOf(empty, 'password')).not.toContain('autofocus');
    const named = signInPage(view, { action: '/sign-in', name: 'alice' });
    expect(fieldOf(named, 'name')).not.toContain('autofocus');
    expect(fieldOf(named, 'password')).toContain('autofocus');
  });

  test('a wrong password gives 422, and an error before the fields that both fields refer to', () => {
    const page = signInPage(view, { action: '/', name: 'alice', problem: { kind: 'wrong' } });
    expect(page.status).toBe(422);
    expect(page.body).toMatch(/id="problem" role="alert"/);
    for (const name of ['name', 'password']) {
      expect(fieldOf(page, name)).toMatch(/aria-describedby="problem"\s+aria-invalid="true"/);
    }
  });

  test('the sign-in page never contains the password that was typed', () => {
    const page = signInPage(view, { action: '/', name: 'alice', problem: { kind: 'wrong' } });
    expect(fieldOf(page, 'password')).not.toContain('value');
  });

  test('too many attempts give 429 with Retry-After, and mark no field as invalid', () => {
    const problem = { kind: 'later', seconds: 20.5 } as const;
    const page = signInPage(view, { action: '/', problem });
    expect([page.status, page.fields['Retry-After']]).toEqual([429, '21']);
    expect(page.body).toContain('Try again in 21 seconds.');
    expect(page.body).not.toContain('aria-invalid="true"');
  });

  test('the policy of the sign-in page allows only the logo of the client from another origin', () => {
    const logo = 'https://app.example/logo.png?size=1;script-src *';
    const policy = (more: object) =>
      signInPage(view, { action: '/', ...more }).fields['Content-Security-Policy'];
    expect(policy({ client: 'App', logo })).toContain(
      'img-src data: https://app.example/logo.png; form-action',
    );
    expect(policy({ client: 'App' })).toContain('img-src data:; form-action');
  });

  test('the sign-in page has no Cancel button if there is no page to return to', () => {
    expect(signInPage(view, { action: '/' }).body).not.toContain('Cancel');
  });
});

describe('change password', () => {
  const at = { action: '/account/password', back: '/account', name: 'alice', endsOthers: true };
  const change = (more: object) => changePasswordPage(view, { ...at, hasPassword: true, ...more });

  test('the fields are marked for password managers as the old and the new password', () => {
    expect(fieldOf(change({}), 'current')).toContain('autocomplete="current-password"');
    expect(fieldOf(change({}), 'password')).toContain('autocomplete="new-password"');
    expect(change({}).body).toMatch(/<input[^>]*value="alice" autocomplete="username" readonly/);
  });

  test('an error is linked to the field that it is about', () => {
    const wrong = change({ problem: { kind: 'wrong' } });
    expect(wrong.status).toBe(422);
    expect(fieldOf(wrong, 'current')).toMatch(/aria-describedby="problem"\s+aria-invalid="true"/);
    expect(fieldOf(wrong, 'password')).not.toContain('aria-invalid');
    const short = change({ problem: { kind: 'short' } });
    expect(fieldOf(short, 'password')).toMatch(
      /aria-describedby="problem hint"\s+aria-invalid="true"/,
    );
    expect(fieldOf(short, 'current')).not.toContain('aria-invalid');
  });

  test('the checkbox keeps its state; a person without a password is not asked for an old one', () => {
    expect(fieldOf(change({}), 'others')).toContain('checked');
    expect(fieldOf(change({ endsOthers: false }), 'others')).not.toContain('checked');
    expect(fieldOf(change({ hasPassword: false }), 'current')).toBe('');
  });
});

describe('consent', () => {
  const consent = (redirectUri: string) =>
    consentPage(view, {
      action: '/',
      client: 'App',
      redirectUri,
      items: [
        { id: '0', text: 'A', scope: 'a', required: true },
        { id: '1', text: 'B', scope: 'b', required: false },
      ],
    });

  test('required items are always sent, optional items can be unticked', () => {
    const { body = '' } = consent('https://app.example/cb');
    expect(body).toMatch(/<input type="hidden" name="item" value="0" \/>/);
    expect(body).toMatch(/<input type="checkbox" checked disabled \/>/);
    expect(body).toMatch(/<input type="checkbox" name="item" value="1" checked \/>/);
  });

  test.each([
    ['https://app.example:8443/cb', 'goes to <strong>app.example:8443</strong>'],
    ['https://bücher.example/', 'goes to <strong>xn--bcher-kva.example</strong>'],
    ['https://good.example@evil.example/', 'goes to <strong>evil.example</strong>'],
    ['https://localhost.evil.example/', 'goes to <strong>localhost.evil.example</strong>'],
    ['http://127.0.0.1:51234/', 'program on this computer, at <strong>127.0.0.1:51234</strong>'],
    ['http://[::1]:51234/', 'program on this computer, at <strong>[::1]:51234</strong>'],
    [
      'com.example.app:/cb',
      'app on this device that handles <strong>com.example.app:</strong> links',
    ],
  ])(
    'the consent page for the redirect URI %s names the next host or app',
    (redirectUri, words) => {
      expect(consent(redirectUri).body?.replaceAll(/\s+/g, ' ')).toContain(words);
    },
  );
});

describe('device', () => {
  test('an unknown code gives 422, and an error linked to the field beside its hint', () => {
    const page = deviceEntryPage(view, { action: '/device', problem: { kind: 'unknown' } });
    expect(page.status).toBe(422);
    expect(fieldOf(page, 'user_code')).toMatch(/aria-describedby="problem hint"/);
  });

  test('the page that confirms a device shows code, IP address, program and age, and a warning (RFC 8628 section 5.4)', () => {
    const { body = '' } = SAMPLES['device-confirm']?.(view) ?? {};
    for (const shown of ['BCDF-GHJK', '203.0.113.77', 'countersign-cli/1.0', '1 minute ago']) {
      expect(body).toContain(shown);
    }
    expect(body).toContain('Did someone send you this code?');
  });

  test('an expired code gives 410', () => {
    const ends = ['done', 'denied', 'expired'] as const;
    const statuses = ends.map((end) => deviceEndPage(view, { end, again: '/device' }).status);
    expect(statuses).toEqual([200, 200, 410]);
  });
});

describe('account', () => {
  test('each button of the account page names the entry that it ends, also for screen readers', () => {
    const { body = '' } = SAMPLES['account']?.(view) ?? {};
    const names = [...body.matchAll(/<button[^>]*>([^]*?)<\/button>/g)].map(([, content = '']) =>
      content
        .replaceAll(/<[^>]*>/g, '')
        .replaceAll(/\s+/g, ' ')
        .trim(),
    );
    expect(names).toEqual([
      'End the sign-in with Chrome on Linux',
      'End the sign-in with Safari on iPhone',
      'End the access of Papertrail',
      'End the access of Papertrail with Chrome on Linux',
      'End the access of Papertrail with A browser',
      'End the access of Weekly Notes',
      'End the access of Countersign CLI',
      'End the access of Countersign CLI with countersign-cli/1.0 (linux; x64)',
      'Remove the key of Laptop in the kitchen',
      'Remove the key of backup',
      'Make a key for https://api.example',
    ]);
  });
});

test('the page that ends everything tells browsers of one name apart by time and address', () => {
  const { body = '' } = endEverythingPage(view, {
    action: '/account/end',
    back: '/account',
    lists: {
      signIns: [
        { id: 'a', since: NOW - 60_000, address: '192.0.2.1', current: true, by: 'password' },
        { id: 'b', since: NOW - 7_200_000, address: '192.0.2.2', current: false, by: 'password' },
      ],
      applications: [],
    },
    isMore: false,
  });
  const entries = [...body.matchAll(/<li>(.*?)<\/li>/gs)].map(([, entry = '']) => entry);
  expect(entries).toEqual([
    expect.stringMatching(/A browser.*1 minute ago.*192\.0\.2\.1/s),
    expect.stringMatching(/A browser.*2 hours ago.*192\.0\.2\.2/s),
  ]);
});

test('an error page keeps its status, and has no detail or button without data for it', () => {
  const page = errorPage(view, { status: 503, kind: 'unavailable' });
  expect(page.status).toBe(503);
  expect(page.body).not.toMatch(/<pre|class="button/);
});
