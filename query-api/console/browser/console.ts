import { listenForActs } from './acts.ts'
import { listenForSignIn, listenForSignOut } from './sign-in.ts'

listenForSignIn()
listenForSignOut()
listenForActs()
