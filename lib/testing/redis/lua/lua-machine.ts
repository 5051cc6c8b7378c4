import { CommandError, ErrorReply, type Reply } from '../server/reply.js';
import { lauxlib, lua, lualib, luaString, type LuaState, textAt } from './fengari.js';
import { openLibraries } from './libraries.js';
import { define } from './library.js';
import { commandAt, errorAt, pushList, pushReply, replyAt } from './values.js';

/** Carries out the commands of a script. @throws CommandError */
export type Call = (words: readonly string[]) => Reply;

const NAME = luaString('@user_script');
const KEYS = luaString('KEYS');
const ARGV = luaString('ARGV');

/** Forbids scripts to use globals that there are not, as Redis does. */
const PROTECTION = `
local names = { KEYS = true, ARGV = true }
setmetatable(_G, {
  __index = function(_, name)
    error("Script attempted to access nonexistent global variable '" .. tostring(name) .. "'", 2)
  end,
  __newindex = function(globals, name, value)
    if not names[name] then
      error("Attempt to modify a readonly table", 2)
    end
    rawset(globals, name, value)
  end,
})`;

/** Texts become numbers in arithmetic as `tonumber` reads them: also the infinities of scores. */
const ARITHMETIC = `
local function number(value)
  return tonumber(value) or error('attempt to perform arithmetic on a string value', 3)
end
local ofStrings = getmetatable('')
ofStrings.__unm = function(a) return -number(a) end
ofStrings.__add = function(a, b) return number(a) + number(b) end
ofStrings.__sub = function(a, b) return number(a) - number(b) end
ofStrings.__mul = function(a, b) return number(a) * number(b) end
ofStrings.__div = function(a, b) return number(a) / number(b) end`;

/** Runs scripts as Redis does. A script that it has run before is not compiled again. */
export class LuaMachine {
  readonly #state: LuaState;
  /** The compiled scripts, by their digests, as references of Lua. */
  readonly #functions = new Map<string, number>();
  #call: Call = () => null;

  constructor() {
    const state = (this.#state = lauxlib.luaL_newstate());
    lualib.luaL_openlibs(state);
    openLibraries(state);
    define(state, 'redis', {
      call: () => this.#command(true),
      pcall: () => this.#command(false),
      error_reply: () => {
        const text = textAt(state, 1);
        pushReply(state, new ErrorReply(text.replace(/^-/, '')));
        return 1;
      },
    });
    for (const prelude of [ARITHMETIC, PROTECTION]) {
      this.#load(prelude);
      lua.lua_pcall(state, 0, 0, 0);
    }
  }

  /** @throws CommandError if the script does, or cannot be compiled */
  run(
    sha1: string,
    source: string,
    keys: readonly string[],
    args: readonly string[],
    call: Call,
  ): Reply {
    const state = this.#state;
    let reference = this.#functions.get(sha1);
    if (reference === undefined) {
      this.#load(source);
      reference = lauxlib.luaL_ref(state, lua.LUA_REGISTRYINDEX);
      this.#functions.set(sha1, reference);
    }
    this.#call = call;
    try {
      pushList(state, keys);
      lua.lua_setglobal(state, KEYS);
      pushList(state, args);
      lua.lua_setglobal(state, ARGV);
      lua.lua_rawgeti(state, lua.LUA_REGISTRYINDEX, reference);
      const isDone = lua.lua_pcall(state, 0, 1, 0) === lua.LUA_OK;
      if (isDone) return replyAt(state);
      throw new CommandError(`${errorAt(state)} script: ${sha1}, on @user_script:${this.#line}.`);
    } finally {
      lua.lua_settop(state, 0);
    }
  }

  /** The line of the script that has called a command last. */
  #line = 0;

  #load(source: string): void {
    const code = luaString(source);
    if (lauxlib.luaL_loadbuffer(this.#state, code, code.length, NAME) === lua.LUA_OK) return;
    const error = textAt(this.#state, -1);
    lua.lua_settop(this.#state, 0);
    throw new CommandError(`ERR Error compiling script (new function): ${error}`);
  }

  #command(raises: boolean): number {
    const state = this.#state;
    const reply = this.#carryOut();
    if (reply instanceof ErrorReply && raises) {
      lauxlib.luaL_where(state, 1);
      this.#line = Number(/:(\d+):/.exec(textAt(state, -1))?.[1] ?? 0);
      pushReply(state, reply);
      return lua.lua_error(state);
    }
    pushReply(state, reply);
    return 1;
  }

  #carryOut(): Reply {
    const words = commandAt(this.#state);
    if (words === undefined)
      return new ErrorReply('ERR Lua redis lib command arguments must be strings or integers');
    try {
      return this.#call(words);
    } catch (error) {
      if (error instanceof CommandError) return new ErrorReply(error.message);
      throw error;
    }
  }
}
