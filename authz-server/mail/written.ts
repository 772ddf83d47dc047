import { isNotice, type LinkKind, type MailKind } from '#shared/mail/kinds.ts';
import type { Mail } from '#shared/mail/transport.ts';
import { type Language, languageOf } from '#shared/pages/language.ts';
import type { Person } from '#shared/people/directory.ts';
import { ADDRESS_PATH, createAddressLinks } from '#shared/people/address-links.ts';
import { createRegistrationLinks, REGISTRATION_PATH } from '#shared/people/registration.ts';
import { addressAlias } from '#shared/people/names/aliases.ts';
import { addressKey } from '#shared/people/names/mail-address.ts';
import { createRecoveryLinks, LINK_PATH, type Recovery } from '#shared/people/recovery-links.ts';
import type { OutboxMessage } from '#shared/stores/mail/outbox.ts';
import type { PagesServer } from '../base/server.ts';
import type { MailTexts } from './texts.ts';
import { mailDe } from './texts-de.ts';
import { mailEn } from './texts-en.ts';

export type MailServer = Pick<PagesServer, 'config' | 'stores' | 'directory' | 'clock' | 'random'>;

const TEXTS: Readonly<Record<Language, MailTexts>> = { en: mailEn, de: mailDe };

/**
 * Writes a message when it is sent. Returns undefined if the message has no recipient: the person is gone or disabled,
 * or has no verified address.
 */
export async function write(server: MailServer, message: OutboxMessage): Promise<Mail | undefined> {
  const { config } = server;
  const { created_at, origin, again = false } = message;
  const addressed = REGISTRATIONS.has(message.kind)
    ? await toNewcomer(server, message)
    : await toPerson(server, message);
  if (addressed === undefined) return undefined;
  const { kind, to, person, link } = addressed;
  // The language that the person has chosen takes precedence over the browser's.
  const language = languageOf(message.language, person?.profile?.locale);
  const compose = (TEXTS[language] as Partial<MailTexts>)[kind];
  if (compose === undefined) return undefined;
  return {
    to,
    ...compose({
      name: person?.name ?? '',
      brand: config.brand.name,
      account: `${config.issuer}/account`,
      at: DATES[language].format(created_at),
      program: origin?.program ?? '?',
      address: origin?.address ?? '?',
      to,
      again,
      codesLeft: person === undefined ? 0 : await codesLeftOf(server, person),
      link,
    }),
  };
}

async function codesLeftOf({ stores }: MailServer, { id }: Person): Promise<number> {
  return (await stores.secondFactors.get(id))?.recovery.length ?? 0;
}

/** The recipient of a message and its link; the link is empty if there is none. */
interface Addressed {
  readonly kind: keyof MailTexts;
  readonly to: string;
  /** Absent for a recipient without an account. */
  readonly person?: Person;
  readonly link: string;
}

async function toPerson(
  server: MailServer,
  message: OutboxMessage,
): Promise<Addressed | undefined> {
  const kind = message.kind as MailKind;
  const person = await server.directory.find(message.accountId);
  const to = person && recipientOf(person, message);
  if (person === undefined || to === undefined) return undefined;
  return { kind, to, person, link: await linkOf(server, kind, person, to) };
}

const REGISTRATIONS: ReadonlySet<string> = new Set<LinkKind>([
  'registration',
  'registration-invitation',
]);

/** If the address belongs to a person already, it gets no link: the message says that there is an account. */
async function toNewcomer(
  server: MailServer,
  { kind, to = '' }: OutboxMessage,
): Promise<Addressed | undefined> {
  const { config, directory, stores } = server;
  const { registration } = config.people;
  // The setting has changed meanwhile.
  if (registration === 'off' || (registration === 'invited' && kind === 'registration')) {
    return undefined;
  }
  const owner = await stores.people.getByAlias(addressAlias(to));
  if (owner !== undefined) {
    const person = await directory.find(owner.id);
    const own = person?.profile?.emails?.find(
      ({ address }) => addressKey(address) === addressKey(to),
    );
    const link = `${config.issuer}/recover`;
    return person && own && { kind: 'registration-known', to: own.address, person, link };
  }
  const origin = { mailed: true, ...(kind === 'registration' && { asked: true }) };
  const { secret } = await createRegistrationLinks(server).make(to, origin);
  const link = `${config.issuer}${REGISTRATION_PATH}${secret}`;
  return { kind: kind as LinkKind, to, link };
}

/**
 * Returns the address to which a message is sent. A link lets its holder sign in, so it is sent only to an address that
 * the person still has. A link to a new address says so, and helps only a holder who signs in as that person.
 */
function recipientOf({ profile }: Person, { kind, to }: OutboxMessage): string | undefined {
  const emails = profile?.emails ?? [];
  if (to === undefined) return emails.find(({ verified }) => verified)?.address;
  const isTheirs = emails.some(({ address }) => addressKey(address) === addressKey(to));
  return isTheirs || kind === 'address-confirmation' || kind === 'address-changed' ? to : undefined;
}

/** The right that a link gives, by the kind of message. */
const RECOVERIES: Readonly<Partial<Record<LinkKind, Omit<Recovery, 'person'>>>> = {
  recovery: { purpose: 'recovery', byMail: true },
  'recovery-by-operator': { purpose: 'recovery' },
  'recovery-of-everything': { purpose: 'recovery', secondFactor: true },
  invitation: { purpose: 'invitation' },
};

/**
 * Makes the link of a message when it is sent, so that no store contains it. Returns an empty string if the message has
 * no link.
 */
async function linkOf(
  server: MailServer,
  kind: MailKind,
  { id: person, profile }: Person,
  address: string,
): Promise<string> {
  if (isNotice(kind)) return '';
  const { issuer } = server.config;
  const recovery = RECOVERIES[kind];
  if (recovery !== undefined) {
    const secret = await createRecoveryLinks(server).make({ ...recovery, person, address });
    return `${issuer}${LINK_PATH}${secret}`;
  }
  const secret = await createAddressLinks(server).make(person, address, profile?.emails);
  return `${issuer}${ADDRESS_PATH}${secret}`;
}

/** The format of a date and time in each language. British English has day, month, year, and 24 hours. */
const DATES: Readonly<Record<Language, Intl.DateTimeFormat>> = {
  en: dates('en-GB'),
  de: dates('de'),
};

function dates(locale: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat(locale, {
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZone: 'UTC',
    timeZoneName: 'short',
  });
}
