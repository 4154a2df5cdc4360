import { h, htmlOf, type View } from './view.ts'
import { pageOf, type Asked, type Shown, type SignedIn } from './page.ts'
import { areas, isOpenTo, isWithin, operations, workRoles, type Area } from './areas.ts'
import { counted, workAddress } from './live.ts'

/** Whoever may look for people by what is known of them. */
const peopleSearch = { roles: ['leads', 'auditor'] } as const
const findsPeople = 'Find a person, policy, application, lead, delivery or event by email, number or name'
const findsNumbers = 'Find a policy, application, quote, lead or delivery by its number or reference'

/** The addresses of what every page loads. */
export type Assets = { readonly of: (name: string) => string }

const document = (assets: Assets, title: string, ...body: View[]): string =>
  htmlOf(
    h(
      'html',
      { lang: 'en-GB' },
      h(
        'head',
        {},
        h('meta', { charSet: 'utf-8' }),
        h('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }),
        h('meta', { name: 'color-scheme', content: 'light dark' }),
        h('title', {}, `${title} · Coverstream`),
        h('link', { rel: ['icon'], href: assets.of('mark.svg') }),
        h('link', { rel: ['stylesheet'], href: assets.of('console.css') }),
        h('script', { type: 'module', src: assets.of('console.ts') }),
      ),
      h('body', {}, ...body),
    ),
  )

/** Undefined: who is signed in could not be found out. */
type About = Pick<Asked, 'organisation' | 'url'> & { readonly me: SignedIn | undefined }

const wayTo = (
  { title, path, work }: Pick<Area, 'title' | 'path' | 'work'>,
  organisation_id: string | undefined,
  isHere: boolean,
): View => {
  const href = organisation_id === undefined ? `/console/${path}` : pageOf(organisation_id, path)
  return h(
    'li',
    {},
    h('a', { href, ...(isHere && { 'aria-current': 'page' as const }) }, title),
    work && counted(work, 'waiting'),
  )
}

/** Below the organisation, where there is one. */
const pathIn = ({ url, organisation }: Pick<About, 'organisation' | 'url'>): string =>
  url.pathname
    .split('/')
    .slice(organisation ? 4 : 2)
    .join('/')

/** The parts of the area that a page is in. */
const parts = (about: About): View => {
  const { me, organisation } = about
  const page = pathIn(about)
  const area: Area | undefined = (organisation ? areas : [operations]).find((each) => isWithin(each, page))
  if (!me || !area?.parts || !isOpenTo(area, me)) return null
  return h(
    'nav',
    { 'aria-label': area.title, class: 'parts' },
    h(
      'ul',
      {},
      area.parts.map((part) => wayTo(part, organisation?.id, isWithin(part, page))),
    ),
  )
}

/** The ways that are beside every organisation. */
const ofInstallation = (about: About, me: SignedIn): View => {
  if (me.organisation_id !== null) return null
  const isHere = about.organisation === undefined && isWithin(operations, pathIn(about))
  return [
    h('li', {}, h('a', { href: '/console' }, 'Organisations')),
    isOpenTo(operations, me) && wayTo(operations, undefined, isHere),
  ]
}

const navigation = (about: About): View => {
  const { me, organisation } = about
  if (!me) return null
  const open = organisation === undefined ? [] : areas.filter((area) => isOpenTo(area, me))
  const isLive = organisation !== undefined && isOpenTo({ roles: workRoles }, me)
  return h(
    'nav',
    {
      'aria-label': 'Areas',
      ...(organisation && { 'data-organisation': organisation.id }),
      ...(isLive && { 'data-live': workAddress(organisation.id) }),
    },
    h(
      'ul',
      {},
      ofInstallation(about, me),
      open.map((area) => wayTo(area, organisation?.id, isWithin(area, pathIn(about)))),
    ),
  )
}

const account = (me: SignedIn): View =>
  h(
    'div',
    { class: 'account' },
    h('span', { title: me.roles.join(', ') }, me.name === '' ? me.email : me.name),
    h('button', { type: 'button', 'data-sign-out': '' }, 'Sign out'),
  )

/** It opens the box that finds records, and says beforehand what by. */
const finder = (me: SignedIn): View =>
  h(
    'button',
    { type: 'button', class: 'finder', 'data-find': '' },
    h('span', {}, isOpenTo(peopleSearch, me) ? findsPeople : findsNumbers),
    h('kbd', {}, '/'),
  )

/** A page within its frame: where one is, who one is, and what just happened. */
export const framed = (assets: Assets, about: About, { title, about: record, main }: Shown): string =>
  document(
    assets,
    title,
    h('a', { class: 'skip', href: '#main' }, 'Skip to the content'),
    h(
      'header',
      { class: 'top' },
      h('a', { class: 'mark', href: '/console' }, about.organisation?.name ?? 'Coverstream'),
      about.organisation && about.me && finder(about.me),
      about.me && account(about.me),
    ),
    h(
      'div',
      { class: 'columns' },
      navigation(about),
      h(
        'main',
        { id: 'main', tabIndex: -1, ...(record !== undefined && { 'data-about': record }) },
        parts(about),
        h('h1', {}, title),
        main,
      ),
    ),
    h('div', { id: 'said', role: 'status', 'aria-live': 'polite' }),
  )

/** The page for whoever is not signed in. `opens`: the path that is opened then. */
export const signInPage = (assets: Assets, opens: string, organisation: string): string =>
  document(
    assets,
    'Sign in',
    h(
      'main',
      { id: 'main', class: 'sign-in', 'data-opens': opens },
      h('h1', {}, 'Sign in'),
      h(
        'form',
        { method: 'dialog', 'data-sign-in': 'key' },
        h('label', { for: 'key' }, 'Your key'),
        h(
          'p',
          { class: 'hint', id: 'key-hint' },
          'An owner of your organisation has given it to you. It is shown once, when it is made.',
        ),
        h('input', {
          id: 'key',
          type: 'password',
          autoComplete: ['current-password'],
          required: true,
          'aria-describedby': 'key-hint',
        }),
        h('p', { class: 'fault', role: 'alert' }),
        h('button', { type: 'submit', class: 'primary' }, 'Sign in'),
      ),
      h('h2', {}, 'Or by your organisation'),
      h(
        'form',
        { method: 'dialog', 'data-sign-in': 'provider' },
        h('label', { for: 'organisation' }, 'Its short name'),
        h(
          'p',
          { class: 'hint', id: 'organisation-hint' },
          'As in its set-up, such as harbour-life. Whoever works for the whole installation leaves it empty.',
        ),
        h('input', {
          id: 'organisation',
          type: 'text',
          autoComplete: ['organization'],
          autoCapitalize: 'none',
          value: organisation,
          'aria-describedby': 'organisation-hint',
        }),
        h('p', { class: 'fault', role: 'alert' }),
        h('button', { type: 'submit' }, 'Show how to sign in'),
        h('ul', { class: 'providers' }),
      ),
      h(
        'noscript',
        {},
        h('p', { class: 'fault' }, 'Signing in needs JavaScript, which is switched off in this browser.'),
      ),
    ),
  )
