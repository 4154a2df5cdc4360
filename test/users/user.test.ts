import { expect, test } from 'vitest'
import type { Actor } from '#domain/event.ts'
import { UserKeyId, type UserEvent } from '#domain/users/events.ts'
import { noUsers, teamOf, usersFold } from '#domain/users/record.ts'
import { user, type UserCommand } from '#domain/users/user.ts'
import { OrganisationId, UserId } from '#domain/values.ts'
import { rejected, scenariosOf, stateOf } from '../scenario.ts'

const scenario = scenariosOf(user)
const organisation_id = OrganisationId.parse('6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f')
const user_id = UserId.parse('e4000000-0000-4000-8000-000000000001')
const real_now = '2026-03-01T12:00:00.000Z'
const later = '2026-03-01T12:00:00.001Z'
const details = {
  name: 'Ada Lovelace',
  email: 'ada@example.org',
  email_digest: 'digest',
  roles: ['owner' as const],
  sees_personal_data: false,
  ends_at: null,
}
const added = { type: 'UserAdded', organisation_id, ...details, had_own: false } as const
const ended = { type: 'UserEnded', user_id } as const
const erased = { type: 'UserErased', user_id } as const
const keyId = (number: number) => UserKeyId.parse(`e5000000-0000-4000-8000-00000000000${number}`)
const self = { type: 'user' as const, id: user_id }
const colleague = { type: 'user' as const, id: 'e4000000-0000-4000-8000-000000000002' }
const program = { type: 'operator' as const, id: 'OPERATOR_KEY' }
const keyMade = (number: number, ends_at: string | null = null, made_by: Actor[] = [self]) =>
  ({ type: 'UserKeyMade', key_id: keyId(number), key_digest: `key ${number}`, ends_at, made_by }) as const
const keyEnded = (number: number, ends_at: string) =>
  ({ type: 'UserKeyEnded', key_id: keyId(number), ends_at }) as const

const add: Extract<UserCommand, { type: 'AddUser' }> = {
  type: 'AddUser',
  organisation_id,
  ...details,
  had_own: false,
  real_now,
}
/** Ada changes herself, with a key of her own. */
const change: Extract<UserCommand, { type: 'ChangeUser' }> = { type: 'ChangeUser', made_by: [self], real_now }
const changed = { type: 'UserChanged', ...details, made_by: [self] } satisfies UserEvent
const withOtherEmail = { ...changed, email_digest: 'other', made_by: [program, colleague] } satisfies UserEvent
const end: UserCommand = { type: 'EndUser', user_id, real_now }
const erase: UserCommand = { type: 'EraseUser', user_id }
const makeKey = (number: number, changes: Partial<Extract<UserCommand, { type: 'MakeUserKey' }>> = {}) =>
  ({
    type: 'MakeUserKey',
    key_id: keyId(number),
    key_digest: `key ${number}`,
    ends_at: null,
    real_now,
    user_id,
    made_by: [self],
    ...changes,
  }) as const

scenario('a user is added', { given: [], when: add, then: [added] })
scenario('that somebody had a way in of their own before is kept', {
  given: [],
  when: { ...add, had_own: true },
  then: [{ ...added, had_own: true }],
})
scenario('roles that a colleague has changed meanwhile are not put back', {
  given: [added, { ...changed, roles: ['claims', 'leads'] }],
  when: { ...change, roles: ['owner', 'finance'], from_roles: ['owner', 'claims', 'leads'] },
  then: rejected('conflict', { from_roles: 'now' }, 'claims, leads by now'),
})
scenario('roles are changed by whoever has seen them, in whatever order', {
  given: [added, { ...changed, roles: ['claims', 'leads'] }],
  when: { ...change, roles: ['finance'], from_roles: ['leads', 'claims'] },
  then: [{ ...changed, roles: ['finance'] }],
})
scenario('nobody is added twice', { given: [added], when: add, then: rejected('conflict', undefined, 'already') })
scenario('whoever is to end at once is not added', {
  given: [],
  when: { ...add, ends_at: real_now },
  then: rejected('validation_failed', { ends_at: 'future' }),
})
scenario('a user may end a moment from now', {
  given: [],
  when: { ...add, ends_at: later },
  then: [{ ...added, ends_at: later }],
})

scenario('only what is sent changes', {
  given: [added],
  when: { ...change, roles: ['owner', 'leads'] },
  then: [{ ...changed, roles: ['owner', 'leads'] }],
})
scenario('what is already so changes nothing', {
  given: [added],
  when: { ...change, name: 'Ada Lovelace' },
  then: [],
})
scenario('somebody who has ended does not change', {
  given: [added, ended],
  when: { ...change, name: 'Ada King' },
  then: rejected('conflict', undefined, 'has ended'),
})
scenario('an end that is changed is in the future', {
  given: [added],
  when: { ...change, ends_at: real_now },
  then: rejected('validation_failed', { ends_at: 'future' }),
})
scenario('an end that has come stays, and so do the keys, whatever else changes', {
  given: [{ ...added, ends_at: real_now }, keyMade(1)],
  when: { ...change, name: 'Ada King' },
  then: [{ ...changed, name: 'Ada King', ends_at: real_now }],
})
scenario('what is sent with others, and is so already, changes nothing of them', {
  given: [{ ...added, ends_at: later, sees_personal_data: true }],
  when: { ...change, email: 'king@example.org', email_digest: 'other' },
  then: [{ ...changed, email: 'king@example.org', email_digest: 'other', ends_at: later, sees_personal_data: true }],
})
scenario('a right to see personal values, and an end, are given and taken away', {
  given: [{ ...added, ends_at: later }],
  when: { ...change, sees_personal_data: true, ends_at: null },
  then: [{ ...changed, sees_personal_data: true }],
})
scenario('the last owner keeps that role', {
  given: [added],
  when: { ...change, roles: ['leads'], isLastOwner: true },
  then: rejected('conflict', undefined, 'owner'),
})
scenario('the last owner gets no end', {
  given: [added],
  when: { ...change, ends_at: later, isLastOwner: true },
  then: rejected('conflict', undefined, 'owner'),
})
scenario('the last owner, who is to end, does not end sooner', {
  given: [{ ...added, ends_at: '2026-03-02T00:00:00.000Z' }],
  when: { ...change, ends_at: later, isLastOwner: true },
  then: rejected('conflict', undefined, 'owner'),
})
scenario('the last owner may take another name', {
  given: [added],
  when: { ...change, name: 'Ada King', isLastOwner: true },
  then: [{ ...changed, name: 'Ada King' }],
})

scenario('a user ends', { given: [added], when: end, then: [ended] })
scenario('to end a user again changes nothing', { given: [added, ended], when: end, then: [] })
scenario('the last owner does not end', {
  given: [added],
  when: { ...end, isLastOwner: true },
  then: rejected('conflict', undefined, 'somebody else an owner'),
})
scenario('nobody ends who was never added', { given: [], when: end, then: rejected('not_found') })

scenario('a user who has ended is erased', { given: [added, ended], when: erase, then: [erased] })
scenario('a user is erased once', { given: [added, ended, erased], when: erase, then: [] })
scenario('a user who has not ended is not erased', {
  given: [added],
  when: erase,
  then: rejected('conflict', undefined, 'End them first'),
})

const four = [1, 2, 3, 4].map((number) => keyMade(number))
scenario('a user has a fifth key', { given: [added, ...four], when: makeKey(5), then: [keyMade(5)] })
scenario('a user has no sixth key', {
  given: [added, ...four, keyMade(5)],
  when: makeKey(6),
  then: rejected('conflict', undefined, '5 keys'),
})
scenario('a key that has come to its end does not count', {
  given: [added, ...four, keyMade(5, real_now)],
  when: makeKey(6),
  then: [keyMade(6)],
})
scenario('somebody who has ended gets no key', {
  given: [added, ended],
  when: makeKey(1),
  then: rejected('conflict', undefined, 'has ended'),
})
scenario('somebody who has come to their end gets no key', {
  given: [{ ...added, ends_at: real_now }],
  when: makeKey(1),
  then: rejected('conflict'),
})
scenario('a key ends in the future', {
  given: [added],
  when: makeKey(1, { ends_at: real_now }),
  then: rejected('validation_failed', { ends_at: 'future' }),
})
scenario('a key is replaced at once', {
  given: [added, keyMade(1)],
  when: makeKey(2, { replaces: { key_id: keyId(1), ends_at: real_now } }),
  then: [keyEnded(1, real_now), keyMade(2)],
})
scenario('a key goes on for a while beside the one that replaces it', {
  given: [added, keyMade(1)],
  when: makeKey(2, { replaces: { key_id: keyId(1), ends_at: later } }),
  then: [keyEnded(1, later), keyMade(2)],
})
scenario('a key that is replaced ends no later than it would have', {
  given: [added, keyMade(1, later)],
  when: makeKey(2, { replaces: { key_id: keyId(1), ends_at: '2026-03-02T00:00:00.000Z' } }),
  then: [keyEnded(1, later), keyMade(2)],
})
scenario('nor later than is asked for', {
  given: [added, keyMade(1, '2026-03-02T00:00:00.000Z')],
  when: makeKey(2, { replaces: { key_id: keyId(1), ends_at: later } }),
  then: [keyEnded(1, later), keyMade(2)],
})
scenario('a key that has come to its end is not replaced', {
  given: [added, keyMade(1, real_now)],
  when: makeKey(2, { replaces: { key_id: keyId(1), ends_at: real_now } }),
  then: rejected('not_found'),
})
scenario('of five keys, one is replaced at once', {
  given: [added, ...four, keyMade(5)],
  when: makeKey(6, { replaces: { key_id: keyId(1), ends_at: real_now } }),
  then: [keyEnded(1, real_now), keyMade(6)],
})
scenario('of five keys, none is replaced with an overlap', {
  given: [added, ...four, keyMade(5)],
  when: makeKey(6, { replaces: { key_id: keyId(1), ends_at: later } }),
  then: rejected('conflict', undefined, '5 keys'),
})
scenario('a key that is not there is not replaced', {
  given: [added],
  when: makeKey(2, { replaces: { key_id: keyId(1), ends_at: real_now } }),
  then: rejected('not_found'),
})
scenario('a key ends', {
  given: [added, keyMade(1)],
  when: { type: 'EndUserKey', key_id: keyId(1), real_now },
  then: [keyEnded(1, real_now)],
})
scenario('a key that has ended, or never was, ends without an event', {
  given: [added, keyMade(1, real_now)],
  when: { type: 'EndUserKey', key_id: keyId(1), real_now },
  then: [],
})

const replaces = (number: number, ends_at = real_now) => ({ replaces: { key_id: keyId(number), ends_at } })
scenario('a key that a colleague has made stays theirs, too, when another is made with it', {
  given: [added, keyMade(1, null, [colleague])],
  when: makeKey(2, { made_by: [self, colleague] }),
  then: [keyMade(2, null, [self, colleague])],
})
scenario('it becomes the user’s own when they replace it themselves, at once, and all that others have made ends', {
  given: [added, keyMade(1, null, [colleague]), keyMade(2, null, [program])],
  when: makeKey(3, { made_by: [self, colleague], ...replaces(1) }),
  then: [keyEnded(1, real_now), keyEnded(2, real_now), keyMade(3)],
})
scenario('not with an overlap, in which whoever made it could do so unnoticed', {
  given: [added, keyMade(1, null, [colleague])],
  when: makeKey(2, { made_by: [self, colleague], ...replaces(1, later) }),
  then: [keyEnded(1, later), keyMade(2, null, [self, colleague])],
})
scenario('not where the user has a key of their own, which would go on', {
  given: [added, keyMade(1), keyMade(2, null, [colleague])],
  when: makeKey(3, { made_by: [self, colleague], ...replaces(2) }),
  then: [keyEnded(2, real_now), keyMade(3, null, [self, colleague])],
})
scenario('not where the colleague has ended the key of their own before', {
  given: [added, keyMade(1, null, [colleague]), keyMade(2), keyEnded(2, real_now), keyMade(3, null, [colleague])],
  when: makeKey(4, { made_by: [self, colleague], ...replaces(3) }),
  then: [keyEnded(3, real_now), keyMade(4, null, [self, colleague])],
})
scenario('but with a key of their own, others are', {
  given: [added, keyMade(1), keyMade(2)],
  when: makeKey(3, { made_by: [self], ...replaces(2) }),
  then: [keyEnded(2, real_now), keyMade(3)],
})
scenario('not where they had a key of their own under another id', {
  given: [{ ...added, had_own: true }, keyMade(1, null, [colleague])],
  when: makeKey(2, { made_by: [self, colleague], ...replaces(1) }),
  then: [keyEnded(1, real_now), keyMade(2, null, [self, colleague])],
})
scenario('not where they have come to their end since', {
  given: [{ ...added, ends_at: '2026-01-15T12:00:00.000Z' }, keyMade(1), changed, keyMade(2, null, [colleague])],
  when: makeKey(3, { made_by: [self, colleague], ...replaces(2) }),
  then: [keyEnded(2, real_now), keyMade(3, null, [self, colleague])],
})
scenario('also where they have made others with it before', {
  given: [added, keyMade(1, null, [colleague]), keyMade(2, null, [self, colleague])],
  when: makeKey(3, { made_by: [self, colleague], ...replaces(1) }),
  then: [keyEnded(1, real_now), keyEnded(2, real_now), keyMade(3)],
})
scenario('that somebody else has an own key says nothing', {
  given: [added, keyMade(1, null, [{ type: 'api', id: user_id }]), keyMade(2, null, [colleague])],
  when: makeKey(3, { made_by: [self, colleague], ...replaces(2) }),
  then: [keyEnded(1, real_now), keyEnded(2, real_now), keyMade(3)],
})
scenario('and not when the colleague replaces it', {
  given: [added, keyMade(1)],
  when: makeKey(2, { made_by: [colleague], ...replaces(1) }),
  then: [keyEnded(1, real_now), keyMade(2, null, [colleague])],
})
scenario('nor a key that a colleague has made', {
  given: [added, keyMade(1, null, [colleague])],
  when: makeKey(2, { made_by: [colleague, self], ...replaces(1) }),
  then: [keyEnded(1, real_now), keyMade(2, null, [colleague, self])],
})
scenario('nor by whoever acts with nothing that others have made: the other keys go on', {
  given: [added, keyMade(1, null, [colleague]), keyMade(2, null, [program])],
  when: makeKey(3, { made_by: [self], ...replaces(1) }),
  then: [keyEnded(1, real_now), keyMade(3)],
})
scenario('nor by a key that is added, which replaces none', {
  given: [added, keyMade(1, null, [colleague])],
  when: makeKey(2, { made_by: [self, colleague] }),
  then: [keyMade(2, null, [self, colleague])],
})

const folded = (...events: readonly Parameters<typeof usersFold.apply>[1][]) => {
  const users = noUsers()
  const at = { stream: `user-${user_id}`, metadata: { occurred_at: real_now } }
  for (const event of events) usersFold.apply(users, event, at)
  return users
}

test('what every process keeps of a user tells of nobody who they are', () => {
  const users = folded(added, keyMade(1))

  expect(JSON.stringify([...users.users])).not.toMatch(/ada/i)
  expect(teamOf(users, organisation_id)).toEqual([
    expect.objectContaining({ id: user_id, organisation_id, roles: ['owner'], email_digest: 'digest' }),
  ])
  expect(users.keys.get('key 1')).toEqual({ user_id, ends_at: null, made_by: [self] })
})

test('no key of a user who has ended is known, and nothing of one who was erased', () => {
  expect(folded(added, keyMade(1), ended).keys.size).toBe(0)
  const users = folded(added, keyMade(1), ended, erased)
  expect([users.users.size, users.keys.size, teamOf(users, organisation_id)]).toEqual([0, 0, []])
})

test('an event that a log gives twice counts once', () => {
  const users = folded(added, keyMade(1), added, keyMade(1))

  expect(teamOf(users, organisation_id)).toHaveLength(1)
  expect(users.keys.size).toBe(1)
})

scenario('whoever comes back after their end does so without their former keys', {
  given: [{ ...added, ends_at: real_now }, keyMade(1), keyMade(2, real_now)],
  when: { ...change, ends_at: null },
  then: [keyEnded(1, real_now), changed],
})
scenario('whoever is to end later keeps their keys', {
  given: [{ ...added, ends_at: later }, keyMade(1)],
  when: { ...change, ends_at: null },
  then: [changed],
})
scenario('the last owner, who is to end, may change their name, and end later', {
  given: [{ ...added, ends_at: later }],
  when: { ...change, name: 'Ada King', ends_at: '2026-03-02T00:00:00.000Z', isLastOwner: true },
  then: [{ ...changed, name: 'Ada King', ends_at: '2026-03-02T00:00:00.000Z' }],
})

const invited = {
  type: 'UserInvited' as const,
  invitation_digest: 'invitation',
  ends_at: later,
  made_by: [colleague],
} satisfies UserEvent
const link: Extract<UserCommand, { type: 'LinkUser' }> = {
  type: 'LinkUser',
  issuer: 'https://one.example',
  subject: 'sub',
  subject_digest: 'sub at one',
  invitation_digest: null,
  email_verified: true,
  real_now,
}
const linked = {
  type: 'UserLinked',
  issuer: 'https://one.example',
  subject: 'sub',
  subject_digest: 'sub at one',
  by_invitation: false,
  email_verified: true,
} as const
const elsewhere = { ...link, subject: 'other', subject_digest: 'other at one' }

scenario('not where the user signs in by a provider, or did', {
  given: [{ ...added, ends_at: '2026-01-15T12:00:00.000Z' }, linked, changed, keyMade(1, null, [colleague])],
  when: makeKey(2, { made_by: [self, colleague], ...replaces(1) }),
  then: [keyEnded(1, real_now), keyMade(2, null, [self, colleague])],
})
test('whoever comes back after their end has no invitation and no link of before', () => {
  const [known] = teamOf(folded({ ...added, ends_at: real_now }, linked, invited, changed), organisation_id)

  expect(known).toMatchObject({ ends_at: null, keys: [], links: [], invitation: null })
})
test('a change that brings nobody back takes nothing from them', () => {
  const over = { ends_at: real_now }
  const [known] = teamOf(
    folded({ ...added, ...over }, linked, { ...changed, ...over, name: 'Ada King' }),
    organisation_id,
  )

  expect(known?.links).toHaveLength(1)
})
test('nothing is left of who somebody was who is erased', () => {
  const left = stateOf(user, [added, withOtherEmail, ended, erased])

  expect(left).toMatchObject({ name: '', email: '', email_digest: '', email_digests: [], erased: true })
})
test.each([
  [
    'an invitation, unless the provider has verified the email',
    [invited, { ...linked, by_invitation: true, email_verified: false }],
    [colleague],
  ],
  ['their verified email', [invited, { ...linked, by_invitation: true }], []],
  ['an email that was changed, with a key that a colleague has made', [withOtherEmail, linked], [program, colleague]],
  ['an email that was changed before that was recorded', [{ ...withOtherEmail, made_by: null }, linked], [program]],
] as const)('a link is also of whoever has made it possible: %s', (_, events, made_by) => {
  const users = noUsers()
  for (const event of [added, ...events])
    usersFold.apply(users, event, {
      stream: `user-${user_id}`,
      metadata: { occurred_at: real_now, actor: program },
    })

  expect(teamOf(users, organisation_id)[0]?.links).toMatchObject([{ made_by }])
})

test('a user has one link at each issuer: another account there takes its place, one elsewhere comes beside it', () => {
  const elsewhere = { ...linked, issuer: 'https://two.example', subject_digest: 'sub at two' }
  const moved = { ...linked, subject_digest: 'other at one', by_invitation: true }
  const [known] = teamOf(folded(added, linked, elsewhere, invited, moved), organisation_id)

  expect(known?.links.map(({ subject_digest }) => subject_digest)).toEqual(['sub at two', 'other at one'])
})
test('an invitation stays until it was used, and whoever has signed in by a provider had a way in of their own', () => {
  const [notUsed] = teamOf(folded(added, invited, linked), organisation_id)
  const [used] = teamOf(folded(added, invited, { ...linked, by_invitation: true }), organisation_id)

  expect(notUsed).toMatchObject({ invitation: { digest: 'invitation', ends_at: later }, had_own: true })
  expect(used).toMatchObject({ invitation: null, had_own: true })
})
test('all emails that a user has had are remembered, each once, and who has changed the last', () => {
  const back = { ...changed, made_by: [colleague] }
  const [other] = teamOf(folded(added, withOtherEmail, { ...withOtherEmail, made_by: [self] }), organisation_id)
  const [again] = teamOf(folded(added, withOtherEmail, back), organisation_id)

  expect(other).toMatchObject({ email_digests: ['digest', 'other'], email_by: [program, colleague] })
  expect(again).toMatchObject({ email_digests: ['digest', 'other'], email_by: [colleague] })
})
test('a key whose end has come is known until another is made, and one that is ended is known no more', () => {
  expect([...folded(added, keyMade(1, real_now)).keys.keys()]).toEqual(['key 1'])
  expect([...folded(added, keyMade(1, real_now), keyMade(2)).keys.keys()]).toEqual(['key 2'])
  const replaced = folded(added, keyMade(1), keyMade(2), keyEnded(1, later))
  expect(replaced.keys.get('key 1')).toMatchObject({ ends_at: later })
  expect([...folded(added, keyMade(1), keyMade(2), keyEnded(1, real_now)).keys.keys()]).toEqual(['key 2'])
})
test('whoever is to end later keeps their keys, and is in no other team', () => {
  const users = folded({ ...added, ends_at: later }, keyMade(1), { ...changed, ends_at: null })

  expect(users.keys.get('key 1')).toMatchObject({ user_id })
  expect(teamOf(users, null)).toEqual([])
})

scenario('a user is invited, in place of the invitation before', {
  given: [added, { ...invited, invitation_digest: 'former' }],
  when: { type: 'InviteUser', invitation_digest: 'invitation', ends_at: later, made_by: [colleague], real_now },
  then: [invited],
})
scenario('nobody is invited who has ended', {
  given: [added, ended],
  when: { type: 'InviteUser', invitation_digest: 'invitation', ends_at: later, made_by: [colleague], real_now },
  then: rejected('conflict', undefined, 'has ended'),
})
scenario('nobody is invited who has come to their end', {
  given: [{ ...added, ends_at: real_now }],
  when: { type: 'InviteUser', invitation_digest: 'invitation', ends_at: later, made_by: [colleague], real_now },
  then: rejected('conflict', undefined, 'has ended'),
})
scenario('whoever is not invited is not linked by an invitation', {
  given: [added],
  when: { ...link, invitation_digest: 'invitation' },
  then: rejected('forbidden', undefined, 'was used'),
})
scenario('what the provider says of the email is kept, also with an invitation', {
  given: [added, invited],
  when: { ...link, invitation_digest: 'invitation', email_verified: false },
  then: [{ ...linked, by_invitation: true, email_verified: false }],
})
scenario('a user is linked by a verified email', { given: [added], when: link, then: [linked] })
scenario('the same account links a user once', { given: [added, linked], when: link, then: [] })
scenario('another account of the same issuer is not linked by an email', {
  given: [added, linked],
  when: elsewhere,
  then: rejected('forbidden', undefined, 'another account'),
})
scenario('an account of another issuer is', {
  given: [added, linked],
  when: { ...link, issuer: 'https://two.example', subject_digest: 'sub at two' },
  then: [{ ...linked, issuer: 'https://two.example', subject_digest: 'sub at two' }],
})
scenario('an invitation moves the link', {
  given: [added, linked, invited],
  when: { ...elsewhere, invitation_digest: 'invitation' },
  then: [{ ...linked, subject: 'other', subject_digest: 'other at one', by_invitation: true }],
})
scenario('an invitation is good once', {
  given: [added, invited, { ...linked, by_invitation: true }],
  when: { ...elsewhere, invitation_digest: 'invitation' },
  then: rejected('forbidden', undefined, 'was used'),
})
scenario('an invitation ends when it says', {
  given: [added, invited],
  when: { ...link, invitation_digest: 'invitation', real_now: later },
  then: rejected('forbidden', undefined, 'has ended'),
})
scenario('nobody is linked by the invitation of somebody else', {
  given: [added, invited],
  when: { ...link, invitation_digest: 'another' },
  then: rejected('forbidden', undefined, 'was used'),
})
scenario('nobody is linked who has come to their end', {
  given: [{ ...added, ends_at: real_now }],
  when: link,
  then: rejected('forbidden', undefined, 'has ended'),
})
scenario('nobody is linked who has ended', {
  given: [added, ended],
  when: link,
  then: rejected('forbidden', undefined, 'has ended'),
})
