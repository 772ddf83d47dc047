import type { Texts } from './en.ts';
import { ownSessionsDe } from './own-sessions.ts';

/** As `endOneEn`. */
export const endOneDe: Texts['endOne'] = {
  kinds: {
    'sign-in': {
      title: 'Diese Anmeldung beenden?',
      text: `Der Browser wird sofort abgemeldet. ${ownSessionsDe}`,
      submit: 'Anmeldung beenden',
    },
    access: {
      title: 'Diesen Zugriff beenden?',
      text: 'Die Anwendung verliert dort sofort ihren Zugriff. Sie kann ihn wiederbekommen, ohne Sie zu fragen, solange Sie ihn anderswo erlauben.',
      submit: 'Zugriff beenden',
    },
    application: {
      title: 'Den Zugriff dieser Anwendung beenden?',
      text: `Sie verliert überall sofort ihren Zugriff, und fragt Sie neu, wenn Sie sie wieder benutzen. ${ownSessionsDe}`,
      submit: 'Zugriff beenden',
    },
    key: {
      title: 'Diesen Schlüssel entfernen?',
      text: 'Er gilt sofort nicht mehr. Das lässt sich nicht rückgängig machen; Sie können einen anderen erzeugen.',
      submit: 'Schlüssel entfernen',
    },
    passkey: {
      title: 'Diesen Passkey entfernen?',
      text: 'Er gilt sofort nicht mehr, und alle Anmeldungen und Zugriffe enden, die er geöffnet hat. Das lässt sich nicht rückgängig machen; Sie können einen anderen erzeugen.',
      submit: 'Passkey entfernen',
    },
  },
  here: 'Sie lesen dies in dem Browser, der abgemeldet wird.',
  browsers: 'Diese Browser werden abgemeldet:',
  places: 'Sie hat Zugriff in diesen Browsern und auf diesen Geräten:',
  applications: 'Diese Anwendungen verlieren den Zugriff, den sie dort bekommen haben:',
  keep: 'So lassen',
};
