import type { Router } from 'express'
import type { Check } from '#infra/http/health.ts'
import type { Route } from '#infra/http/route.ts'
import type { CommandSide } from './command-side.ts'
import type { SomeReaction } from './reactions/reaction.ts'
import type { Timer } from './reactions/timers.ts'

/** A capability's part of the command side. Listed in capabilities.ts. */
export type Capability = {
  readonly routes?: (side: CommandSide) => readonly Route[]
  /** Routers of requests and answers that are not in our own form: of the token endpoint, and what other systems post to us. */
  readonly ownForms?: (side: CommandSide) => readonly Router[]
  /** Work that runs without a request. */
  readonly work?: (side: CommandSide) => Work
}

export type Work = {
  readonly reactions?: readonly SomeReaction[]
  readonly timers?: readonly Timer[]
  /** Works by itself until the process stops. */
  readonly running?: { readonly check: () => Check; readonly finished: Promise<unknown> }
}

/** A command side only for reading how routes and parts of a set-up file describe themselves: it can do nothing. */
export const onlyDescribed = {
  writer: { deciders: new Map() },
  dataKeys: {},
  directory: {},
  outreach: {},
  people: {},
} as unknown as CommandSide
