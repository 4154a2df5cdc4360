import { expect, test } from 'vitest'
import { operatorKey, type OperatorKeyCommand } from '#domain/operator-keys/operator-key.ts'
import { operatorKeyNamed, operatorKeysFold, type OperatorKeys } from '#domain/operator-keys/record.ts'
import { rejected, scenariosOf } from '../scenario.ts'

const scenario = scenariosOf(operatorKey)
const details = { name: 'ada', scope: 'all', ends_at: null, made_by: 'OPERATOR_KEY', key_digest: 'digest' } as const
const made = { type: 'OperatorKeyMade', ...details } as const
const ended = { type: 'OperatorKeyEnded', name: 'ada' } as const

type Make = Extract<OperatorKeyCommand, { type: 'MakeOperatorKey' }>
const make = (changes: Partial<Make> = {}): Make => ({
  type: 'MakeOperatorKey',
  ...details,
  real_now: '2026-03-01T12:00:00.000Z',
  maker_ends_at: null,
  ...changes,
})
const end: OperatorKeyCommand = { type: 'EndOperatorKey' }

scenario('a key is made', { given: [], when: make(), then: [made] })
scenario('a name is used once', {
  given: [made],
  when: make(),
  then: rejected('conflict', undefined, 'choose another'),
})
scenario('a name is used once, also after its key has ended', {
  given: [made, ended],
  when: make(),
  then: rejected('conflict'),
})
scenario('a key ends in the future', {
  given: [],
  when: make({ ends_at: '2026-03-01T12:00:00.000Z' }),
  then: rejected('validation_failed', { ends_at: 'future' }, 'Correct ends_at'),
})

scenario('a key may end a moment from now', {
  given: [],
  when: make({ ends_at: '2026-03-01T12:00:00.001Z' }),
  then: [{ ...made, ends_at: '2026-03-01T12:00:00.001Z' }],
})

const atSix = '2026-03-01T18:00:00.000Z'
scenario('a key that ends makes a key that ends with it', {
  given: [],
  when: make({ ends_at: atSix, maker_ends_at: atSix }),
  then: [{ ...made, ends_at: atSix }],
})
for (const ends_at of [null, '2026-03-01T18:00:00.001Z'])
  scenario(`a key that ends at six makes none that ends ${ends_at ?? 'never'}`, {
    given: [],
    when: make({ ends_at, maker_ends_at: atSix }),
    then: rejected('validation_failed', { ends_at: 'must not be after' }),
  })

scenario('a key is ended', { given: [made], when: end, then: [ended] })
scenario('ending it again changes nothing', { given: [made, ended], when: end, then: [] })
scenario('what was never made cannot be ended', {
  given: [],
  when: end,
  then: rejected('not_found', undefined, 'List the keys'),
})

test('a key that is ended stays known by its name, and the others go on', () => {
  const keys: OperatorKeys = new Map()
  const at = (occurred_at: string) => ({ metadata: { occurred_at } })
  operatorKeysFold.apply(keys, made, at('2026-03-01T12:00:00.000Z'))
  operatorKeysFold.apply(keys, { ...made, name: 'ben', key_digest: 'of ben' }, at('2026-03-02T12:00:00.000Z'))
  operatorKeysFold.apply(keys, ended, at('2026-03-03T12:00:00.000Z'))
  operatorKeysFold.apply(keys, { ...ended, name: 'nobody' }, at('2026-03-04T12:00:00.000Z'))

  expect(operatorKeyNamed(keys, 'ada')).toEqual({
    ...details,
    made_at: '2026-03-01T12:00:00.000Z',
    ended_at: '2026-03-03T12:00:00.000Z',
  })
  expect(operatorKeyNamed(keys, 'ben')).toMatchObject({ key_digest: 'of ben', ended_at: null })
  expect(operatorKeyNamed(keys, 'nobody')).toBeUndefined()
  expect(keys.size).toBe(2)
})
