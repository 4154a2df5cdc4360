import { expect, test } from 'vitest'
import { anyProgram, isOwn, isSameActor, isSameParty, makersOf, soleMaker } from '#domain/makers.ts'

const ada = { type: 'user', id: 'ada' } as const
const bea = { type: 'user', id: 'bea' } as const
const nightly = { type: 'operator', id: 'nightly' } as const
const namesake = { type: 'operator', id: 'ada' } as const

test('actors are the same by their type and their id', () => {
  expect(isSameActor(ada, { ...ada })).toBe(true)
  expect([isSameActor(ada, bea), isSameActor(ada, namesake), isSameActor(null, ada)]).toEqual([false, false, false])
})

test('all programs are one party, and a user of the installation is one of them', () => {
  expect([isSameParty(ada, ada), isSameParty(nightly, anyProgram), isSameParty(nightly, namesake)]).toEqual([
    true,
    true,
    true,
  ])
  expect([isSameParty(ada, bea), isSameParty(ada, nightly), isSameParty(nightly, ada)]).toEqual([false, false, false])
})

test('whoever makes a key comes first, and each of the makers once', () => {
  expect(makersOf(ada, [bea, ada, nightly])).toEqual([ada, bea, nightly])
})

test('a key is its user’s own where nobody else could hold it', () => {
  expect([isOwn('ada', [ada]), isOwn('ada', [])]).toEqual([true, true])
  expect([isOwn('ada', [ada, bea]), isOwn('ada', [namesake]), isOwn('ada', [bea])]).toEqual([false, false, false])
})

test('its sole maker is a user, and alone', () => {
  expect([soleMaker([ada]), soleMaker([ada, bea]), soleMaker([namesake]), soleMaker([])]).toEqual([
    'ada',
    null,
    null,
    null,
  ])
})
